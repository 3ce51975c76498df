"""Code of other users: it does not run, whatever they swap while a process looks, and nothing that they put in the
place of a file keeps a process waiting. Folders and files that others may write stand for those of others, so that no
test but one needs a second user."""

import hashlib
import os
import pickle
import shutil
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from cache_programs import Project
from lancehead import _core, cuda, errors, types

GOOD, EVIL = 123456789, 987654321
SOURCE = f"@njit(cache=True)\ndef f(x): return x + {GOOD}\n"
CALL = "import m; tell(m.f, 0)"
HIT, MISS = [GOOD, 1, 0], [GOOD, 0, 1]
#: Loads the code of a function many times, as new processes do.
LOADS = """
import m
answers = set()
for _ in range({}):
    answers.add(njit(cache=True)(m.f.py_func)(0))
print(json.dumps(sorted(map(int, answers))))
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("LANCEHEAD_STORE", raising=False)
    project = Project(tmp_path)
    project.write("m.py", SOURCE)
    return project


@pytest.fixture
def kept(project):
    """A folder of the project's, named by a setting, which has the code of the function."""
    project.env["LANCEHEAD_CACHE_DIR"] = str(project.path / "kept")
    assert project.run(CALL) == MISS
    return project.path / "kept"


def is_refused(project, want=MISS):
    """Whether the function is compiled, with a warning."""
    return project.run(CALL) == want and "untrusted-cache" in project.errors


def with_other_code(entry):
    """An entry whose machine code has another constant, as somebody else would write it."""
    magic, content = entry[:8], entry[40:].replace(GOOD.to_bytes(4, "little"), EVIL.to_bytes(4, "little"))
    return magic + hashlib.blake2b(content, digest_size=32).digest() + content


def entries_of(folder):
    return sorted(folder.rglob("*.nbc"))


def foreign_copy(folder, copy):
    """A copy of a folder with other code, which everybody may write."""
    shutil.copytree(folder, copy)
    for path in entries_of(copy):
        path.write_bytes(with_other_code(path.read_bytes()))
    for path in [copy, *copy.rglob("*")]:
        path.chmod(0o777)
    return copy


def test_such_an_entry_would_run(project, kept):
    (entry,) = entries_of(kept)
    entry.write_bytes(with_other_code(entry.read_bytes()))
    assert project.run(CALL) == [EVIL, 1, 0]


@pytest.mark.parametrize("place", ["root", "folder"])
def test_links_that_are_swapped_meanwhile(project, kept, some, place):
    evil = foreign_copy(kept, project.path / "evil")
    if place == "root":
        good, link = kept, project.path / "link"
        project.env["LANCEHEAD_CACHE_DIR"] = str(link)
    else:
        # Whoever swaps a folder may write to the one above.
        (link,) = [p for p in kept.iterdir() if p.is_dir() and p.name != "objects"]
        good, evil = link.rename(project.path / "good"), evil / link.name
    link.symlink_to(good)
    stop = threading.Event()

    def swap():
        new = project.path / "new"
        while not stop.is_set():
            for target in (evil, good):
                new.symlink_to(target)
                new.replace(link)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        assert project.run("from lancehead import njit\n" + LOADS.format(some(5000, 300))) == [GOOD]
    finally:
        stop.set()
        thread.join()


def access_list(path, user=4321):
    """Lets another user write, and says whether the file system has access lists."""
    entries = [(1, 7, -1), (2, 7, user), (4, 5, -1), (16, 7, -1), (32, 5, -1)]
    data = (2).to_bytes(4, "little")
    for tag, rights, who in entries:
        data += tag.to_bytes(2, "little") + rights.to_bytes(2, "little") + (who & 0xFFFFFFFF).to_bytes(4, "little")
    try:
        os.setxattr(path, "system.posix_acl_access", data)
    except OSError:
        return False
    return True


def test_who_may_write_to_a_folder_or_above(project, kept):
    (entry,) = entries_of(kept)
    for path in (entry, entry.parent, kept):
        own = path.stat().st_mode & 0o777
        for more in (0o020, 0o002, 0o1002):
            path.chmod(own | more)
            assert is_refused(project) and f"chmod go-w {path}" in project.errors, (path, more)
            # A file is replaced, where a folder may be written.
            path.chmod(own)
            assert project.run(CALL) == HIT and "untrusted-cache" not in project.errors
        if access_list(path):
            assert is_refused(project) and "an access list may write" in project.errors
            path.chmod(own)
            assert project.run(CALL) == HIT


def test_nothing_is_written_where_others_may(project):
    folder = project.path / "open"
    folder.mkdir()
    folder.chmod(0o1777)
    project.env["LANCEHEAD_CACHE_DIR"] = str(folder)
    assert is_refused(project) and not list(folder.iterdir())
    # Nor in the store of objects, which is there; functions without a cache are told so, too.
    project.write("n.py", "@njit\ndef f(x): return x + 1\n")
    project.run("import n; tell(n.f, 1)")
    assert project.errors.count("untrusted-cache") == 1 and not list(folder.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_and_folders_of_other_users(project, kept):
    (entry,) = entries_of(kept)
    for path in (entry, entry.parent, kept):
        os.chown(path, 4321, -1)
        assert is_refused(project) and "another user (uid 4321)" in project.errors
        if path == entry:
            assert path.stat().st_uid == 0, "it is replaced"
        os.chown(path, 0, -1)
        assert project.run(CALL) == HIT


def test_links_in_the_place_of_entries_and_folders(project, kept):
    (entry,) = entries_of(kept)
    moved = entry.rename(project.path / "moved.nbc")
    entry.symlink_to(moved)
    assert is_refused(project) and "is a link" in project.errors
    assert not entry.is_symlink() and project.run(CALL) == HIT
    folder = entry.parent.rename(project.path / "moved")
    entry.parent.symlink_to(folder)
    assert is_refused(project) and "is a link" in project.errors


def sockets(path):
    # A name of a socket is short, the path of a test is not.
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


@pytest.mark.parametrize("put", [os.mkfifo, sockets, os.mkdir, lambda p: p.symlink_to("/dev/zero")])
def test_what_is_no_file_keeps_nobody_waiting(project, kept, put):
    (entry,) = entries_of(kept)
    entry.unlink()
    put(entry)
    assert project.run(CALL)[0] == GOOD
    project.write("n.py", SOURCE)
    key = entry.name.split(".")[-3]
    put(entry.parent / f".lh-{key}.lock")
    assert project.run(CALL)[0] == GOOD
    shutil.rmtree(kept)
    put(kept)
    assert project.run(CALL) == MISS


def test_neither_do_commands_wait(project, kept):
    (entry,) = entries_of(kept)
    os.mkfifo(entry.with_name(entry.name.replace("m.f", "m.g")))
    os.mkfifo(kept / "a.nbo")
    environment = {**os.environ, **project.env}
    for command in ("ls", "info", "verify"):
        args = [sys.executable, "-m", "lancehead", "cache", command, str(kept)]
        done = subprocess.run(args, env=environment, capture_output=True, text=True, timeout=60)
        assert "Traceback" not in done.stderr


def test_objects_of_the_store(project, kept):
    code = "from lancehead import _core\nimport m; m.f(0); print(json.dumps(list(_core.store_counts())))"
    project.write("m.py", SOURCE.replace("cache=True", "")).touch()
    project.run(code)
    assert project.run(code)[0] == 1
    (path,) = (kept / "objects").rglob("*.nbo")
    for place in (path, path.parent, path.parent.parent, kept):
        own = place.stat().st_mode & 0o777
        place.chmod(own | 0o020)
        assert project.run(code)[0] == 0
        assert ("untrusted-cache" in project.errors) == (place in (path.parent.parent, kept))
        place.chmod(own)
        assert project.run(code)[0] == 1
    path.unlink()
    os.mkfifo(path)
    assert project.run(code)[0] == 0
    assert project.run(code)[0] == 1, "it is replaced"


def test_packs(project):
    (project.path / "p").mkdir()
    project.write("p/__init__.py", "")
    project.write("p/m.py", SOURCE)
    command = [sys.executable, "-m", "lancehead", "pack", str(project.path / "p"), "-s", "p.m.f(int64)"]
    subprocess.run([*command, "--level", "x86-64-v2"], check=True, capture_output=True, timeout=120)
    pack = project.path / "p" / "__lancehead__"
    call = "import p.m; tell(p.m.f, 0)"
    assert project.run(call) == HIT
    for path in (pack, *entries_of(pack)):
        own = path.stat().st_mode & 0o777
        path.chmod(own | 0o020)
        project.env["XDG_CACHE_HOME"] = str(project.path / path.name)
        assert project.run(call) == MISS and "untrusted-cache" in project.errors
        path.chmod(own)
        shutil.rmtree(project.path / "p" / "__pycache__")
        assert project.run(call) == HIT


def test_pickles_of_programs(tmp_path):
    from lancehead.caching import IndexDataCacheFile

    folder = tmp_path / "kept"
    file = IndexDataCacheFile(str(folder), "f", 1)
    file.save("key", [1, 2])
    assert file.load("key") == [1, 2]
    (folder / "f.1.nbc").chmod(0o666)
    with pytest.warns(errors.NumbaWarning, match="untrusted-cache"):
        assert file.load("key") is None
    (folder / "f.nbi").unlink()
    os.mkfifo(folder / "f.nbi")
    assert file.load("key") is None
    file.save("key", 3)
    assert file.load("key") == 3 and pickle.loads((folder / "f.1.nbc").read_bytes()) == 3
    folder.chmod(0o777)
    with pytest.raises(PermissionError), pytest.warns(errors.NumbaWarning, match="untrusted-cache"):
        file.save("key", 4)


PTX = """
.version 7.8
.target sm_75
.address_size 64
.visible .func (.param .b32 status) zero(.param .b64 result)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [result];
    mov.u32 %r3, 0;
    st.u32 [%rd1], %r3;
    st.param.b32 [status+0], %r3;
    ret;
}
"""


def test_linked_files(tmp_path):
    def run(link):
        zero = cuda.declare_device("zero", types.int32(), link=link)

        @cuda.jit
        def kernel(out):
            out[0] = zero()

        out = np.ones(1, np.int32)
        kernel[1, 1](out)
        return out[0]

    path = tmp_path / "zero.ptx"
    path.write_text(PTX)
    assert run(str(path)) == 0
    # The program says what is linked, so that a link may lead there.
    (tmp_path / "link.ptx").symlink_to(path)
    assert run(str(tmp_path / "link.ptx")) == 0
    for mode in (0o664, 0o646):
        path.chmod(mode)
        with pytest.raises(cuda.errors.LinkerError, match=r"chmod go-w .*PTXSource"):
            run(str(path))
        assert run(cuda.PTXSource(path.read_text())) == 0
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(cuda.errors.LinkerError, match="no regular file"):
        run(str(path))


def test_schedules(tmp_path):
    _core.keep_file(tmp_path / "schedules", "a.json", b"{}")
    assert _core.kept_file(tmp_path / "schedules", "a.json") == b"{}"
    assert _core.kept_file(tmp_path / "schedules", "b.json") is None
    (tmp_path / "schedules").chmod(0o775)
    with pytest.warns(errors.NumbaWarning, match="untrusted-cache"):
        assert _core.kept_file(tmp_path / "schedules", "a.json") is None
