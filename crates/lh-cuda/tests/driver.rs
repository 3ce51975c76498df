//! The driver's calls and errors, against a library that stands in for it.

use lh_cuda::Config;
use lh_cuda::driver::{Driver, Event, Gpu, Stream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

/// Builds the stand-in.
fn fake() -> PathBuf {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("libfakecuda.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/libcuda.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let mut compile = Command::new(rustc);
    compile.args(["--edition=2024", "--crate-type=cdylib", "--cap-lints=allow", "-o"]).arg(&out).arg(source);
    assert!(compile.status().expect("rustc runs").success());
    out
}

fn config(block: i64) -> Config {
    Config { grid: [1, 1, 1], block: [block, 1, 1], dynamic_shared: 0, in_order: false }
}

#[test]
fn no_driver_is_an_error() {
    let error = Driver::open(Some("/nowhere/libcuda.so.1")).err().expect("there is none");
    assert_eq!((error.code, error.function), (-1, "dlopen"));
}

#[test]
fn calls_and_errors() {
    let path = fake();
    let driver = Driver::open(path.to_str()).expect("the stand-in is there");
    assert_eq!((driver.version, driver.isa(), driver.devices()), (12040, 84, Ok(1)));
    // SAFETY: the library is the one above; the function takes nothing.
    let alive = || unsafe {
        let library = libloading::Library::new(&path).expect("loaded already");
        let f: libloading::Symbol<'_, unsafe extern "C" fn() -> i64> = library.get(b"fake_alive\0").expect("there");
        f()
    };
    {
        let gpu = Gpu::open(&driver, 0).expect("there is one");
        assert_eq!((gpu.capability, gpu.name()), ((8, 6), Ok("a fake".to_owned())));
        let floats = [1f32, 2.0, 3.0];
        let bytes: Vec<u8> = floats.iter().flat_map(|f| f.to_le_bytes()).collect();
        let (null, buffer) = (Stream::null(&gpu), gpu.allocate(bytes.len()).expect("memory"));
        // SAFETY: the buffer has as many bytes.
        unsafe { gpu.write(buffer.address, &bytes, &null).expect("copied") };
        let module = Arc::new(gpu.load(b".visible .entry add_one()", false).expect("loads"));
        let kernel = module.kernel("add_one").expect("there");
        assert_eq!(kernel.attribute(4), Ok(14));
        let [start, end] = [(), ()].map(|()| Event::new(&gpu, true).expect("made"));
        start.record(&null).expect("recorded");
        let launch = |block, cooperative, mut words: [u64; 2]| {
            let mut parameters = words.each_mut().map(|w| std::ptr::from_mut(w).cast());
            // SAFETY: the words are those of the stand-in's kernel, which ends before this returns.
            unsafe { kernel.launch(&config(block), cooperative, &mut parameters, None) }
        };
        launch(32, false, [buffer.address, 2]).expect("runs");
        end.record(&null).expect("recorded");
        assert_eq!(end.since(&start), Ok(1.5));
        gpu.wait().expect("done");
        let mut out = vec![0; bytes.len()];
        // SAFETY: as above.
        unsafe { gpu.read(buffer.address, &mut out, &null).expect("copied") };
        let out: Vec<f32> = out.chunks(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        assert_eq!(out, [2.0, 3.0, 3.0]);

        let error = launch(2048, false, [buffer.address, 2]).expect_err("too many threads");
        assert_eq!((error.code, &*error.name), (1, "CUDA_ERROR_INVALID_VALUE"));
        let error = launch(1, true, [0, 0]).expect_err("no cooperative launches");
        assert_eq!((error.code, error.function), (-1, "cuLaunchCooperativeKernel"));
        let error = gpu.allocate(1 << 40).err().expect("too much");
        assert_eq!(error.to_string(), "Call to cuMemAlloc_v2 results in CUDA_ERROR_OUT_OF_MEMORY: as the fake says");
        let error = gpu.load(b"nothing", false).err().expect("no PTX");
        assert!(error.text.contains("ptxas error: nothing to run"), "{error}");
        assert!(module.kernel("other").is_err());
        assert_eq!(Stream::new(&gpu).err().map(|e| e.function), Some("cuStreamCreate"));
    }
    assert_eq!(alive(), 0);
}
