"""The store of objects: what LLVM has made of a module serves every process that lowers the same module, and nothing
that is wrong with its files makes a wrong answer."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from cache_programs import Project

#: A function of library functions that are units of their own, and one of plain loops.
SOURCE = """
@njit
def ordered(a):
    return np.sort(a), np.argsort(a), np.linalg.solve(np.eye(4) + 1.0, a[:4])

@njit
def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * a[i]
    return s
"""
#: It prints answers, and how many objects came from the store and how many from LLVM.
CALL = """
import m, numpy as np
from lancehead import _core
a = np.array([3.0, 1.0, 2.0, 7.0, 5.0])
parts = m.ordered(a)
print(json.dumps([[p.tolist() for p in parts], m.total(a)]))
found, came, made = _core.store_counts()
print(json.dumps([found, made]))
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("LANCEHEAD_STORE", raising=False)
    project = Project(tmp_path)
    project.write("m.py", SOURCE)
    return project


def run(project, code=CALL, *, preexec=None):
    """The output of a process: answers, and objects found and made."""
    process = project.popen(code) if preexec is None else popen(project, code, preexec)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    answers, counts = map(json.loads, out.splitlines())
    return answers, counts


def popen(project, code, preexec):
    """A process with limits."""
    started = subprocess.Popen

    def limited(*args, **options):
        return started(*args, preexec_fn=preexec, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", limited)
        return project.popen(code)


def folder(project):
    return project.path / "user cache" / "lancehead" / "objects"


def files(project):
    return sorted(folder(project).rglob("*.nbo"))


def test_a_second_process_compiles_nothing(project):
    answers, (found, made) = run(project)
    assert made >= 2
    assert len(files(project)) == made
    again, (found, made) = run(project)
    assert again == answers
    assert (found >= 2, made) == (True, 0)


def test_what_a_process_did_before_does_not_matter(project):
    answers, _ = run(project)
    project.write("before.py", "@njit\ndef f(a, b): return np.cumsum(np.sort(a))[-1] + b\n")
    first = "import before, numpy as np; before.f(np.arange(3.0), 1); before.f(np.arange(3), 2.5)\n"
    again, (_, made) = run(project, first + CALL.strip())
    assert again == answers
    # Only the two functions of the other module, and the library's for integers.
    before, _ = len(files(project)), None
    assert run(project, first + CALL.strip())[1][1] == 0
    assert made <= before


def test_functions_of_a_process_share_library_code(project):
    project.write("n.py", "@njit\ndef f(a): return np.unique(a)[0]\n@njit\ndef g(a): return np.unique(a)[-1] * 2\n")
    code = """
    import n, numpy as np
    from lancehead import _core
    a = np.array([3.0, 1.0])
    n.f(a)
    before = sum(_core.store_counts()[1:])
    n.g(a)
    print(json.dumps(0))
    print(json.dumps([before, sum(_core.store_counts()[1:]) - before]))
    """
    _, (first, second) = run(project, code)
    assert second < first


def damaged(whole):
    """A file with its content in many wrong ways."""
    yield b""
    yield whole[:7]
    yield whole[: len(whole) // 2]
    yield whole[:-1]
    yield whole + b"x"
    yield whole[:60] + bytes([whole[60] ^ 1]) + whole[61:]
    yield whole[:-9] + bytes([whole[-9] ^ 128]) + whole[-8:]
    yield b"LHOBJEC0" + whole[8:]


def test_damaged_files_are_made_again(project):
    answers, (_, made) = run(project)
    wholes = [path.read_bytes() for path in files(project)]
    for n in range(8):
        for path, whole in zip(files(project), wholes, strict=True):
            path.write_bytes(list(damaged(whole))[n])
        assert run(project) == (answers, [0, made])
        assert [path.read_bytes() for path in files(project)] == wholes


def test_files_that_others_may_write_are_not_read(project):
    answers, (_, made) = run(project)
    for path in files(project):
        path.chmod(0o666)
    assert run(project)[1] == [0, made]
    for path in files(project):
        assert path.stat().st_mode & 0o777 == 0o644
    folder(project).chmod(0o777)
    assert run(project) == (answers, [0, made])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_of_others_are_not_read(project):
    answers, (_, made) = run(project)
    for path in files(project):
        os.chown(path, 12345, 12345)
    assert run(project) == (answers, [0, made])


def test_a_full_disk_and_a_place_that_is_none(project):
    answers, (_, made) = run(project, preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert not files(project)
    project.env["LANCEHEAD_STORE"] = "/proc/none/here"
    assert run(project) == (answers, [0, made])


def test_the_setting_turns_it_off(project):
    project.env["LANCEHEAD_STORE"] = "0"
    answers, (_, made) = run(project)
    assert run(project) == (answers, [0, made])
    assert not folder(project).exists()
    project.env["LANCEHEAD_STORE"] = str(project.path / "elsewhere")
    assert run(project)[1] == [0, made]
    assert run(project)[1] == [made, 0]
    assert len(list((project.path / "elsewhere").rglob("*.nbo"))) == made


def test_old_objects_go_first(project):
    run(project)
    before = files(project)
    size = sum(path.stat().st_size for path in before)
    for age, path in enumerate(before):
        moment = time.time() - 1e6 + 1000 * age
        os.utime(path, (moment, moment))
    project.env["LANCEHEAD_CACHE_SIZE"] = str(size * 2)
    # The size was looked at when the folder was made; the next time is an hour later.
    os.utime(folder(project) / ".lh-checked", (0, 0))
    project.write("n.py", "@njit\ndef f(x): return x * 3 + 1\n")
    code = "import n; from lancehead import _core; n.f(2)\nprint(0)\nprint(json.dumps(_core.store_counts()[1:]))"
    run(project, code)
    left = files(project)
    assert sum(path.stat().st_size for path in left) <= size // 2
    gone = [path for path in before if path not in left]
    assert gone == before[: len(gone)]


def test_processes_at_once(project):
    processes = [project.popen(CALL) for _ in range(6)]
    outputs = [process.communicate(timeout=300) for process in processes]
    assert {process.returncode for process in processes} == {0}, outputs
    assert len({out.splitlines()[0] for out, _ in outputs}) == 1
    assert run(project)[1][1] == 0
    assert not list(folder(project).rglob("*.tmp"))


def test_killed_writers(project):
    """Whenever a process is killed, the files that it leaves are whole, or are not read."""
    expected, _ = run(project)
    for path in files(project):
        path.unlink()
    start = time.perf_counter()
    run(project)
    whole = time.perf_counter() - start
    for n in range(12):
        for path in files(project):
            path.unlink()
        process = project.popen(CALL)
        time.sleep(whole * (0.4 + 0.05 * n))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        answers, _ = run(project)
        assert answers == expected


def test_entries_of_the_cache_have_what_they_call(project):
    project.write("m.py", SOURCE.replace("@njit", "@njit(cache=True)"))
    answers, (_, made) = run(project)
    assert made
    for path in files(project):
        path.unlink()
    assert run(project) == (answers, [0, 0])
    assert not files(project)


def test_the_command(project):
    run(project)

    def command(*words):
        environment = {**os.environ, "XDG_CACHE_HOME": str(project.path / "user cache")}
        done = subprocess.run(
            [sys.executable, "-m", "lancehead", "cache", *words],
            capture_output=True, text=True, env=environment, cwd=project.path,
        )  # fmt: skip
        return done.returncode, done.stdout

    count = len(files(project))
    assert f"{count} objects" in command("info")[1]
    assert f"{count} objects" in command("ls")[1]
    assert command("verify")[0] == 0
    files(project)[0].write_bytes(b"LHOBJEC1")
    assert command("verify")[0] == 1
    assert command("verify", "--remove")[0] == 1
    assert len(files(project)) == count - 1
    assert command("clear", "--yes")[0] == 0
    assert not files(project)
