"""User data as the simulated cloud-init takes it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from components.userdata import cloud_config
from tests.clouds.fabric.boot import UserDataError, boot_files, commands, text

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n-----END OPENSSH PRIVATE KEY-----\n"
HOST_KEY = "/etc/ssh/ssh_host_ed25519_key"
RUNCMD = "/etc/simulated-cloud/runcmd.sh"


def test_the_program_s_own_user_data_is_understood() -> None:
    found = boot_files(cloud_config(SECRET, "ssh-ed25519 AAAA\n", "/dev/disk/by-id/etcd"))
    assert found[HOST_KEY] == (0o600, SECRET)
    assert found[f"{HOST_KEY}.pub"] == (0o644, "ssh-ed25519 AAAA\n")
    mode, script = found[RUNCMD]
    assert mode == 0o700
    assert "/dev/disk/by-id/etcd" in script
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


def test_no_user_data_is_none() -> None:
    found = boot_files("")
    assert HOST_KEY not in found
    assert found[RUNCMD][1] == "#!/bin/sh\n"
    assert found["/usr/bin/cloud-init"][0] == 0o755


def test_a_command_is_a_list_of_words_or_a_line_of_shell() -> None:
    script = commands([["printf", "%s|", "a b", "$c", "it's"], "printf %s $((1 + 1))"])
    done = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=True)
    assert done.stdout == "a b|$c|it's|2"


def test_the_last_command_decides_as_in_cloud_init() -> None:
    ends = [
        subprocess.run(["sh"], input=commands(lines), text=True, check=False).returncode
        for lines in (["false", "true"], ["true", "false"])
    ]
    assert ends == [0, 1]


@pytest.mark.parametrize(
    ("user_data", "words"),
    [
        ("#!/bin/sh\ntrue\n", "begin with a line `#cloud-config`"),
        ("#cloud-config\n- a\n", "a mapping"),
        ("#cloud-config\nkey: |\n\tcanary\n", r"no YAML \(line 3\)"),
        ("#cloud-config\npackages: [canary]\n", "packages"),
        ("#cloud-config\nruncmd: canary\n", "runcmd"),
        ("#cloud-config\nruncmd: [[sh, 1]]\n", "runcmd"),
        ("#cloud-config\nwrite_files: [{path: /x, owner: canary}]\n", "write_files"),
        ("#cloud-config\nssh_keys: {rsa_private: canary}\n", "ssh_keys"),
        ("#cloud-config\nssh_deletekeys: 'yes'\nssh_genkeytypes: x\n", "ssh_deletekeys, ssh_gen"),
    ],
)
def test_what_is_not_understood_is_refused_and_not_shown(user_data: str, words: str) -> None:
    with pytest.raises(UserDataError, match=words) as error:
        boot_files(user_data)
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    ("result", "arguments", "code", "said"),
    [
        ("done", ["status", "--wait"], 0, "status: done\n"),
        ("error", ["status", "--wait"], 1, "status: error\n"),
        ("done", ["status"], 0, "status: done\n"),
        (None, ["status"], 0, "status: running\n"),
        ("done", ["clean"], 2, ""),
    ],
)
def test_the_stand_in_tells_how_the_first_boot_went(
    tmp_path: Path, result: str | None, arguments: list[str], code: int, said: str
) -> None:
    place = tmp_path / "result"
    if result is not None:
        place.write_text(f"{result}\n")
    script = text("cloud-init").replace("/var/lib/cloud/simulated-result", str(place))
    done = subprocess.run(
        ["sh", "-c", script, "cloud-init", *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (code, said)


def test_files_are_written_and_boot_commands_come_first() -> None:
    found = boot_files(
        "#cloud-config\n"
        "runcmd: [second]\nbootcmd: [[first, thing]]\n"
        "write_files: [{path: /etc/x, content: 'a b'}]\n"
    )
    assert found["/etc/x"] == (0o644, "a b")
    assert found[RUNCMD][1] == "#!/bin/sh\nfirst thing\nsecond\n"
