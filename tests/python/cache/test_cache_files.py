"""Files of the cache: where they are, and what happens when they are damaged, cannot be written, or are somebody
else's."""

import os
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest

from cache_programs import Project

CALL = "import m; tell(m.f, 10)"
SOURCE = "@njit(cache=True)\ndef f(x): return x + 1\n"
HIT, MISS = [11, 1, 0], [11, 0, 1]


@pytest.fixture
def project(tmp_path):
    project = Project(tmp_path)
    project.write("m.py", SOURCE)
    return project


def warnings(project):
    return [line for line in project.errors.splitlines() if "Warning" in line]


def test_beside_the_source(project):
    assert project.run(CALL) == MISS
    names = sorted(p.name for p in (project.path / "__pycache__").iterdir())
    assert len(names) == 2 and all(n.startswith("m.f-3.lh-py3") for n in names)
    assert [n.rsplit(".", 1)[1] for n in names] in (["nbc", "nbi"], ["nbi", "nbc"])


def test_path_in_stats(project):
    project.run("import m; m.f(1); print(m.f.stats.cache_path, file=sys.stderr)")
    assert project.errors.strip() == str(project.path / "__pycache__")


@pytest.mark.parametrize("name", ["LANCEHEAD_CACHE_DIR", "NUMBA_CACHE_DIR"])
def test_directory_from_the_environment(project, name):
    project.env[name] = str(project.path / "elsewhere")
    assert project.run(CALL) == MISS
    assert project.run(CALL) == HIT
    assert not (project.path / "__pycache__").exists()
    assert all("elsewhere" in str(p) for p in project.entries())
    # Moved, with the sources or without them.
    shutil.move(project.path / "elsewhere", project.path / "moved")
    project.env[name] = str(project.path / "moved")
    (project.path / "sources").mkdir()
    shutil.move(project.path / "m.py", project.path / "sources" / "m.py")
    assert project.run(f"sys.path.insert(0, {str(project.path / 'sources')!r}); " + CALL) == HIT


def test_everything_or_nothing(project):
    project.write("n.py", "@njit\ndef f(x): return x + 1\n")
    call = "import n; tell(n.f, 10)"
    project.run(call)
    assert project.run(call) == MISS
    project.env["LANCEHEAD_CACHE"] = "1"
    assert project.run(call) == MISS
    assert project.run(call) == HIT
    project.env["LANCEHEAD_CACHE"] = "0"
    assert project.run(CALL) == MISS and project.run(CALL) == MISS


def test_damaged_files_are_not_read(project):
    assert project.run(CALL) == MISS
    (entry,) = project.entries()
    whole = entry.read_bytes()
    for damaged in (
        b"",
        whole[:7],
        whole[: len(whole) // 2],
        whole[:-1],
        whole + b"x",
        whole[:200] + b"\xff" + whole[201:],
        b"\0" * len(whole),
    ):
        entry.write_bytes(damaged)
        assert project.run(CALL) == MISS, damaged[:10]
        # It has been replaced.
        assert project.run(CALL) == HIT
    assert project.errors == ""


def test_entry_of_another_function_is_not_taken(project):
    project.write("n.py", "@njit(cache=True)\ndef f(x): return x * 2\n")
    assert project.run(CALL) == MISS
    (mine,) = project.entries()
    assert project.run("import n; tell(n.f, 10)") == [20, 0, 1]
    (other,) = set(project.entries()) - {mine}
    shutil.copy(other, mine)
    assert project.run(CALL) == MISS


def test_interrupted_writes_leave_nothing_half_done(project):
    # Files cannot grow beyond so many bytes: a write stops in the middle, as on a full disk.
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    for _ in range(2):
        assert project.run(limit + CALL) == MISS
        assert any("compiled functions cannot be kept" in w for w in warnings(project))
        left = [p for p in project.path.rglob("*") if p.is_file() and p.suffix != ".py"]
        assert left == []
    assert project.run(CALL) == MISS
    assert project.run(CALL) == HIT


def test_killed_writers(project):
    # Killed at any time, a process leaves no entry or a whole one.
    for delay in range(8):
        process = project.popen("import m; print('[1]', flush=True); " + CALL)
        process.stdout.readline()
        try:
            process.wait(delay * 0.01)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
    assert project.run(CALL)[0] == 11
    assert project.run(CALL) == HIT


#: Loaded before the C library: in the directory `FULL`, the call `FAILS` finds no space; writes do once so many bytes
#: are written.
NO_SPACE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int fails(const char *call, const char *path) {
    const char *full = getenv("FULL"), *which = getenv("FAILS");
    return full && which && path && !strcmp(which, call) && !strncmp(path, full, strlen(full));
}
static int no_space(void) { errno = ENOSPC; return -1; }
static long left = 100;
ssize_t write(int fd, const void *data, size_t n) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    if (fails("write", path)) return no_space();
    if (fails("write later", path)) {
        if (left == 0) return no_space();
        n = n < (size_t)left ? n : (size_t)left;
        left -= n;
    }
    return real(fd, data, n);
}
#define OPEN(name) int name(const char *path, int flags, ...) { \\
    va_list more; va_start(more, flags); mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0; va_end(more); \\
    if (flags & O_CREAT && fails("open", path)) return no_space(); \\
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \\
    return real(path, flags, mode); }
OPEN(open)
OPEN(open64)
static int fails_at(const char *call, int folder, const char *path) {
    char link[64], whole[8192];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = *path == '/' ? 0 : readlink(link, whole, 4096);
    length = length < 0 ? 0 : length;
    snprintf(whole + length, sizeof whole - length, *path == '/' ? "%s" : "/%s", path);
    return fails(call, whole);
}
#define OPEN_AT(name) int name(int folder, const char *path, int flags, ...) { \\
    va_list more; va_start(more, flags); mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0; va_end(more); \\
    if (flags & O_CREAT && fails_at("open", folder, path)) return no_space(); \\
    int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, #name); \\
    return real(folder, path, flags, mode); }
OPEN_AT(openat)
OPEN_AT(openat64)
int renameat(int folder, const char *from, int other, const char *to) {
    int (*real)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");
    return fails_at("rename", other, to) ? no_space() : real(folder, from, other, to);
}
int mkdirat(int folder, const char *path, mode_t mode) {
    int (*real)(int, const char *, mode_t) = dlsym(RTLD_NEXT, "mkdirat");
    return fails_at("mkdir", folder, path) ? no_space() : real(folder, path, mode);
}
int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    return fails("rename", to) ? no_space() : real(from, to);
}
int mkdir(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = dlsym(RTLD_NEXT, "mkdir");
    return fails("mkdir", path) ? no_space() : real(path, mode);
}
"""


@pytest.mark.parametrize("call", ["write", "write later", "open", "rename", "mkdir"])
def test_full_disk(project, tmp_path_factory, call):
    tools = tmp_path_factory.mktemp("full_disk")
    (tools / "full.c").write_text(NO_SPACE)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-w", "full.c", "-o", "full.so", "-ldl"], cwd=tools, check=True, timeout=120
    )
    cache = project.path / "full"
    if call != "mkdir":
        cache.mkdir()
    full = {"FULL": str(cache), "FAILS": call, "LD_PRELOAD": str(tools / "full.so")}
    project.env["LANCEHEAD_CACHE_DIR"] = str(cache)
    for _ in range(2):
        project.env.update(full)
        assert project.run(CALL) == MISS
        assert len(warnings(project)) == 1 and "cannot be kept" in project.errors and "No space left" in project.errors
        assert [p for p in project.path.rglob("*") if p.is_file() and p.suffix != ".py"] == []
    # Once there is room again, it is as if nothing had been.
    for name in full:
        del project.env[name]
    assert project.run(CALL) == MISS
    assert project.run(CALL) == HIT


#: Root without the right to ignore permissions (capabilities 1 and 2), as an ordinary user is.
OBEY = """
import ctypes, os
if os.getuid() == 0:
    libc = ctypes.CDLL(None)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, data) == 0
    data[0] &= ~6
    assert libc.capset(header, data) == 0
"""


def as_somebody(project, code):
    """Runs as a user for whom permissions mean something."""
    return project.run(OBEY + code)


def open_to_others(project):
    for parent in (project.path, *project.path.parents):
        if parent.stat().st_uid == os.getuid() and parent != parent.parent:
            parent.chmod(parent.stat().st_mode | 0o055)


def test_read_only_directories(project):
    assert project.run(CALL) == MISS
    # Where nothing can be written, what is there is read all the same.
    (project.path / "__pycache__").chmod(0o555)
    project.path.chmod(0o555)
    try:
        assert as_somebody(project, CALL) == HIT
        # New entries go to the user's own directory; where that cannot be made either, a warning says so once.
        home = project.path.parent / (project.path.name + " home")
        home.mkdir()
        home.chmod(0o777)
        project.env["XDG_CACHE_HOME"] = str(home)
        floats = "import m; tell(m.f, 1.5)"
        assert as_somebody(project, floats) == [2.5, 0, 1]
        assert as_somebody(project, floats) == [2.5, 1, 0]
        assert project.errors == ""
        home.chmod(0o555)
        project.env["XDG_CACHE_HOME"] = str(home / "none")
        assert as_somebody(project, floats) == [2.5, 0, 1]
        assert len(warnings(project)) == 1 and "cannot be kept" in project.errors
    finally:
        project.path.chmod(0o755)
        (project.path / "__pycache__").chmod(0o755)


def test_no_home(project):
    project.path.joinpath("m.py").unlink()
    code = "exec('from lancehead import njit\\n@njit(cache=True)\\ndef f(x): return x + 1', globals()); tell(f, 10)"
    project.env["XDG_CACHE_HOME"] = ""
    locked = project.path / "locked"
    locked.mkdir(mode=0o555)
    project.env["HOME"] = str(locked / "home")
    assert as_somebody(project, code) == MISS
    assert "cannot be kept" in project.errors
    project.env["HOME"] = ""
    assert project.run(code) == MISS


def test_where_others_may_write_nothing_is_read(project):
    assert project.run(CALL) == MISS
    cache = project.path / "__pycache__"
    cache.chmod(0o777)
    assert project.run(CALL) == MISS
    assert "untrusted-cache" in project.errors and len(warnings(project)) == 1
    cache.chmod(0o755)
    assert project.run(CALL) == HIT
    (entry,) = [p for p in project.entries() if "__pycache__" in str(p)]
    entry.chmod(0o666)
    # The user's own directory has it too by now.
    assert project.run(CALL) == HIT and "untrusted-cache" in project.errors
    entry.chmod(0o644)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o644


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_files_of_other_users_are_not_read(project):
    open_to_others(project)
    assert project.run(CALL) == MISS
    for path in (project.path / "__pycache__", *(project.path / "__pycache__").iterdir()):
        os.chown(path, 4321, 4321)
    assert project.run(CALL) == MISS
    assert "another user" in project.errors


def test_cache_directory_that_is_a_file(project):
    (project.path / "__pycache__").write_text("")
    assert project.run(CALL) == MISS
    assert project.run(CALL) == HIT
    project.env["LANCEHEAD_CACHE_DIR"] = str(project.path / "m.py")
    assert project.run(CALL) == MISS
    assert "cannot be kept" in project.errors


@pytest.mark.parametrize("place", ["not/yet/there", "m.py/below", "loop", "gone", "/proc/lancehead", "/dev/null"])
def test_odd_directories(project, place):
    cache = project.path / place
    if place == "loop":
        cache.symlink_to(cache)
    if place == "gone":
        cache.symlink_to(project.path / "nowhere")
    project.env["LANCEHEAD_CACHE_DIR"] = str(cache)
    assert project.run(CALL) == MISS
    usable = place == "not/yet/there"
    assert project.run(CALL) == (HIT if usable else MISS)
    assert usable or ("cannot be kept" in project.errors and "Traceback" not in project.errors)


#: A file system without locks, or that takes no other file's name: what network file systems do.
ODD = """
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <fcntl.h>
static int is(const char *what) { const char *odd = getenv("ODD"); return odd && !strcmp(odd, what); }
int flock(int fd, int operation) { if (is("locks")) { errno = ENOLCK; return -1; } return 0; }
int renameat(int a, const char *from, int b, const char *to) { errno = is("renames") ? EIO : EPERM; return -1; }
"""


@pytest.mark.parametrize("odd", ["locks", "renames"])
def test_odd_file_systems(project, tmp_path_factory, odd):
    tools = tmp_path_factory.mktemp("odd")
    text = ODD if odd == "renames" else ODD.replace("int renameat", "static int unused")
    (tools / "odd.c").write_text(text)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "odd.c", "-o", "odd.so"], cwd=tools, check=True, timeout=120)
    project.env.update({"ODD": odd, "LD_PRELOAD": str(tools / "odd.so")})
    assert project.run(CALL) == MISS
    assert project.run(CALL) == (HIT if odd == "locks" else MISS)
    assert "Traceback" not in project.errors
    left = [p.name for p in project.path.rglob("*") if p.is_file() and p.suffix != ".py"]
    assert all(
        name.endswith((".nbc", ".nbi", ".nbo")) or name.startswith(".lh-") and name.endswith((".lock", "checked"))
        for name in left
    ), left


def test_64_writers_at_once(project):
    project.write("m.py", """
        import helper
        T = np.arange(10.0)
        @njit(cache=True)
        def f(x): return helper.g(x) + T[1]
        def make(k):
            @njit(cache=True)
            def h(x): return x * k
            return h
    """)  # fmt: skip
    project.write("helper.py", "def g(x): return x * 2\n")
    code = """
        import os, time, m
        from multiprocessing import get_context
        def work(n):
            import m
            out = []
            for k in range(3):
                h = m.make(k)
                out.append((m.f(10), m.f(1.5), h(n), k * n))
            return out, sum(m.f.stats.cache_hits.values())
        context = get_context("fork")
        with context.Pool(16) as pool:
            first = pool.map(work, range(64), 1)
        for out, hits in first:
            assert all(a == 21.0 and b == 4.0 and h == want for a, b, h, want in out), out
    """
    assert project.run(code) == []
    # Then everything is there, and nothing else.
    assert project.run("import m; tell(m.f, 10); tell(m.f, 1.5)") == [[21.0, 1, 0], [4.0, 2, 0]]
    assert len(project.entries()) == 5
    assert not list(project.path.rglob("*.tmp"))


def test_functions_without_a_file(project):
    code = "exec('from lancehead import njit\\n@njit(cache=True)\\ndef f(x): return x + 1', globals()); tell(f, 10)"
    assert project.run(code) == MISS
    assert project.run(code) == HIT
    assert project.run(code.replace("x + 1", "x + 2")) == [12, 0, 1]
    lambdas = "from lancehead import njit; tell(njit(cache=True)(lambda x: x + 1), 10)"
    assert project.run(lambdas) == MISS
    assert project.run(lambdas) == HIT
    assert project.run(lambdas.replace("x + 1", "x - 1")) == [9, 0, 1]


def test_interactive_session(project):
    text = "from lancehead import njit\n@njit(cache=True)\ndef f(x): return x + 1\n\nprint(f(10), f.stats.cache_hits)\n"
    environment = {**os.environ, "XDG_CACHE_HOME": str(project.path / "cache")}

    def session():
        done = subprocess.run(
            [sys.executable, "-i"], input=text, capture_output=True, text=True, env=environment, timeout=60
        )
        return done.stdout.strip()

    assert session() == "11 Counter()"
    assert session() == "11 Counter({(int64,): 1})"


def test_notebook_cells(project):
    code = """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell()
        shell.run_cell({before!r})
        shell.run_cell("from lancehead import njit\\n@njit(cache=True)\\ndef f(x): return x + 1")
        tell(shell.user_ns["f"], 10)
    """
    assert project.run(code.format(before="1 + 1")) == MISS
    # In another cell of another session.
    assert project.run(code.format(before="2\n\n3")) == HIT


def test_module_in_an_archive(project):
    with zipfile.ZipFile(project.path / "z.zip", "w") as archive:
        archive.writestr("inside.py", "from lancehead import njit\n" + SOURCE)
    code = f"sys.path.insert(0, {str(project.path / 'z.zip')!r}); import inside; tell(inside.f, 10)"
    assert project.run(code) == MISS
    assert project.run(code) == HIT


def test_names_that_no_file_has(project):
    name = "f" + "o" * 300
    project.write(
        "m.py", f"@njit(cache=True)\ndef {name}(x): return x + 1\n\n@njit(cache=True)\ndef größe(x): return x + 1\n"
    )
    code = f"import m; tell(m.{name}, 10); tell(m.größe, 10)"
    assert project.run(code) == [MISS, MISS]
    assert project.run(code) == [HIT, HIT]
