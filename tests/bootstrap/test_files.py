"""How a step places files on a host: `files/common.sh`, run by bash."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bootstrap.step import File, place, read

if TYPE_CHECKING:
    from tests.bootstrap.sandbox import Sandbox

CONFIG = File(path="/etc/kubernetes/kubelet.yaml", content="maxPods: 110\n")
MANIFEST = File(
    path="/etc/kubernetes/manifests/etcd.yaml",
    content="a/pki-sha256: '@PKI_SHA256@'\n",
    mode="0600",
)
REPORT = 'commit test; printf "changed %s\\n" "${changed[@]}"'
AWKWARD = {
    "quotes": 'it\'s "quoted"\n',
    "dollar": "$HOME ${HOME} $(id) `id`\n",
    "backslash": "a\\b \\n \\\\ end\\\n",
    "percent": "100% %s %%\n",
    "bang": "!! !$\n",
    "utf-8": "größer ☸ 日本語\n",
    "blank": "\n\n  leading and trailing  \n\n",
    "carriage return": "one\r\ntwo\r\n",
    "delimiter inside": "x END-OF-FILE\n END-OF-FILE\n",
    "empty line only": "\n",
    "ampersand": "a & b | c > d < e; f\n",
    "long": "x" * 100_000 + "\n",
}


@pytest.mark.parametrize("content", AWKWARD.values(), ids=AWKWARD)
def test_a_file_arrives_byte_for_byte(host: Sandbox, content: str) -> None:
    """A04: no value is expanded, unquoted or re-encoded on its way to a file."""
    assert host.place(File(path="/etc/x", content=content)).status == 0
    assert host.path("/etc/x").read_bytes() == content.encode()


def test_a_last_line_without_its_end_gets_one(host: Sandbox) -> None:
    host.place(File(path="/etc/x", content="no end"))
    assert host.path("/etc/x").read_bytes() == b"no end\n"


def test_a_content_that_would_end_the_file_early_is_refused() -> None:
    with pytest.raises(ValueError, match="END-OF-FILE"):
        place(File(path="/etc/x", content="a\nEND-OF-FILE\nrm -rf /\n"))


@pytest.mark.parametrize("mode", ["0600", "0644"])
def test_a_file_has_the_mode_that_it_was_given(host: Sandbox, mode: str) -> None:
    host.place(File(path="/etc/x", content="x\n", mode=mode))
    assert f"{host.path('/etc/x').stat().st_mode & 0o777:04o}" == mode


def test_a_secret_is_never_readable_by_others_not_even_while_it_is_staged(host: Sandbox) -> None:
    secret = File(path="/etc/kubernetes/pki/ca.key", content="KEY\n", mode="0600")
    host.place(secret, then="true")
    assert host.path("/etc/kubernetes/pki/.ca.key.new").stat().st_mode & 0o077 == 0


def test_an_unchanged_file_is_no_change(host: Sandbox) -> None:
    """A09: a second run places nothing."""
    first, second = host.place(CONFIG, then=REPORT), host.place(CONFIG, then=REPORT)
    assert "kubelet.yaml" in first.stdout
    assert "kubelet.yaml" not in second.stdout


def test_an_unchanged_file_keeps_its_inode(host: Sandbox) -> None:
    host.place(CONFIG)
    before = host.path(CONFIG.path).stat()
    host.place(CONFIG)
    assert (before.st_ino, before.st_mtime_ns) == (
        host.path(CONFIG.path).stat().st_ino,
        host.path(CONFIG.path).stat().st_mtime_ns,
    )


def test_another_content_or_another_mode_is_a_change(host: Sandbox) -> None:
    host.place(CONFIG)
    other = File(path=CONFIG.path, content="maxPods: 50\n")
    assert "kubelet.yaml" in host.place(other, then=REPORT).stdout
    stricter = File(path=CONFIG.path, content="maxPods: 50\n", mode="0600")
    assert "kubelet.yaml" in host.place(stricter, then=REPORT).stdout
    assert host.path(CONFIG.path).stat().st_mode & 0o777 == 0o600


def test_nothing_is_in_place_before_the_commit(host: Sandbox) -> None:
    host.place(CONFIG, then="true")
    assert not host.path(CONFIG.path).exists()


def test_a_staged_manifest_is_hidden_from_the_kubelet(host: Sandbox) -> None:
    """H17: the kubelet reads every name in its folder that does not start with a dot."""
    host.place(MANIFEST)
    changed = File(path=MANIFEST.path, content=f"{MANIFEST.content}more: 1\n", mode="0600")
    host.place(changed, then="true")
    assert [name for name in host.files("/etc/kubernetes/manifests") if name[0] != "."] == [
        "etcd.yaml"
    ]
    host.place(changed)
    assert host.files("/etc/kubernetes/manifests") == {"etcd.yaml"}


def test_no_script_leaves_a_copy_beside_a_file() -> None:
    """H17: no `sed -i.bak`, no `.bak`, no `.orig`."""
    for name in ("common", "places", "prepare", "activate"):
        assert not re.search(r"sed -i|-i\.|\.bak|\.orig|(?<!=)~ ", read(f"{name}.sh")), name


def test_what_is_committed_stays_on_record_until_it_is_finished(host: Sandbox) -> None:
    host.place(CONFIG)
    assert host.pending() == {CONFIG.path}
    host.place(CONFIG, then="commit test; finished")
    assert host.pending() == set()


def test_a_run_that_was_cut_off_is_finished_by_the_next(host: Sandbox) -> None:
    """A09: the second run sees no changed file, and still knows what there is to restart."""
    host.place(CONFIG, then="commit test; exit 1")
    again = host.place(
        CONFIG, then="commit test; pending '/etc/kubernetes/kubelet' && echo restart"
    )
    assert "restart" in again.stdout


def test_a_run_that_was_cut_off_between_record_and_move_is_repeated(host: Sandbox) -> None:
    host.place(CONFIG, then="mv() { exit 1; }; commit test")
    assert not host.path(CONFIG.path).exists()
    assert "kubelet.yaml" in host.place(CONFIG, then=REPORT).stdout
    assert host.read(CONFIG.path) == CONFIG.content


def test_a_file_that_is_no_longer_wanted_goes(host: Sandbox) -> None:
    host.place(CONFIG, MANIFEST)
    host.place(CONFIG, then="finished; commit test")
    assert not host.path(MANIFEST.path).exists()
    assert host.pending() == {MANIFEST.path}


def test_a_file_of_another_step_or_of_somebody_else_stays(host: Sandbox) -> None:
    host.write("/etc/kubernetes/manifests/mine.yaml", "kind: Pod\n")
    host.place(MANIFEST, then="commit other")
    host.place(CONFIG, then="commit test")
    assert host.path(MANIFEST.path).exists()
    assert host.path("/etc/kubernetes/manifests/mine.yaml").exists()


def test_a_manifest_says_which_keys_its_pod_runs_with(host: Sandbox) -> None:
    host.write("/etc/kubernetes/pki/etcd.key", "one")
    host.place(MANIFEST)
    first = host.read(MANIFEST.path)
    host.place(MANIFEST)
    assert host.read(MANIFEST.path) == first
    host.write("/etc/kubernetes/pki/etcd.key", "two")
    host.place(MANIFEST)
    assert host.read(MANIFEST.path) != first
    assert "@" not in host.read(MANIFEST.path)


def test_all_problems_are_told_at_once(host: Sandbox) -> None:
    ran = host.place(then="problem one is wrong; problem two is wrong; stop_at_problems")
    assert ran.status == 1
    assert "2 problem(s)" in ran.stderr
    assert "- one is wrong" in ran.stderr
    assert "- two is wrong" in ran.stderr


def test_no_problem_stops_nothing(host: Sandbox) -> None:
    assert host.place(then="stop_at_problems; echo on").stdout == "on\n"


def test_a_wait_ends(host: Sandbox) -> None:
    ran = host.place(then="wait_for 60 'the moon' false || echo gave up")
    assert ran.stdout == "gave up\n"
    assert "waited too long for the moon" in ran.stderr


def test_a_command_that_fails_ends_the_step(host: Sandbox) -> None:
    assert host.place(then="false; echo on").stdout == ""


def test_an_unset_name_ends_the_step(host: Sandbox) -> None:
    assert host.place(then='echo "$no_such_name"').status != 0
