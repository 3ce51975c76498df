// Every exported function, once. A function and its `f32` form differ by the suffix `f`.
exports! {
    lh_exp(x: f64) -> f64 = exp::exp;
    lh_expf(x: f32) -> f32 = single::exp;
    lh_log(x: f64) -> f64 = log::log;
    lh_logf(x: f32) -> f32 = single::log;
    lh_sin(x: f64) -> f64 = trig::sin;
    lh_sinf(x: f32) -> f32 = single::sin;
    lh_cos(x: f64) -> f64 = trig::cos;
    lh_cosf(x: f32) -> f32 = single::cos;
}
