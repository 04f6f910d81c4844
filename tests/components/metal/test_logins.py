"""Keys of SSH: which file, whether it can be used, and what a host is known by."""

from __future__ import annotations

import hmac
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest

from components.metal import keyfiles
from components.metal.knownhosts import keys_of
from tests.components.metal.cases import (
    HOST_KEY,
    Bad,
    expect,
    good,
    host,
    keys,
    private_key,
    problems,
    public_key,
)

ED, ECDSA = public_key("a"), public_key("b", "ecdsa-sha2-nistp256")
WIDER, RSA = public_key("c", "ecdsa-sha2-nistp521"), public_key("d", "ssh-rsa")


def hashed(name: str, key: str) -> str:
    salt = b"s" * 20
    digest = hmac.digest(salt, name.encode(), "sha1")
    return f"|1|{b64encode(salt).decode()}|{b64encode(digest).decode()} {key}"


# (a known_hosts text, host, port, the keys that it has for them)
KNOWN: dict[str, tuple[str, str, int, tuple[str, ...]]] = {
    "address": (f"192.0.2.1 {ED} me@here\n", "192.0.2.1", 22, (ED,)),
    "another": (f"192.0.2.10 {ED}\n", "192.0.2.1", 22, ()),
    "one-of-names": (f"web,web.example.com,192.0.2.1 {ED}\n", "web.example.com", 22, (ED,)),
    "any-case": (f"WEB {ED}\n", "Web", 22, (ED,)),
    "port": (f"192.0.2.1 {ECDSA}\n[192.0.2.1]:2222 {ED}\n", "192.0.2.1", 2222, (ED,)),
    "no-port": (f"[192.0.2.1]:2222 {ED}\n", "192.0.2.1", 22, ()),
    "without-the-port": (f"192.0.2.1 {ED}\n", "192.0.2.1", 2222, ()),
    "hashed": (f"{hashed('192.0.2.1', ED)}\n", "192.0.2.1", 22, (ED,)),
    "hash-of-another": (f"{hashed('192.0.2.2', ED)}\n", "192.0.2.1", 22, ()),
    "hashed-port": (f"{hashed('[192.0.2.1]:2222', ED)}\n", "192.0.2.1", 2222, (ED,)),
    "broken-hash": (f"|1|x {ED}\n|1|###|### {ED}\n", "192.0.2.1", 22, ()),
    "pattern": (f"192.0.2.? {ED}\n", "192.0.2.1", 22, (ED,)),
    "pattern-of-many": (f"*.example.com {ED}\n", "a.b.example.com", 22, (ED,)),
    "pattern-without": (f"*.example.com,!b.example.com {ED}\n", "b.example.com", 22, ()),
    "only-without": (f"!b.example.com {ED}\n", "a.example.com", 22, ()),
    "brackets-are-no-choice": (f"[12] {ED}\n", "1", 22, ()),
    "best-type": (f"h {RSA}\nh {WIDER}\nh {ECDSA}\nh {ED}\n", "h", 22, (ED,)),
    "second-best": (f"h {WIDER}\nh {ECDSA}\n", "h", 22, (ECDSA,)),
    "rsa-only": (f"h {RSA}\n", "h", 22, ()),
    "twice-the-same": (f"h {ED} a\n192.0.2.1,h {ED} b\n", "h", 22, (ED,)),
    "two": (f"h {ED}\nh {HOST_KEY}\n", "h", 22, (ED, HOST_KEY)),
    "revoked": (f"h {ED}\n@revoked h {ED}\nh {ECDSA}\n", "h", 22, (ECDSA,)),
    "authority": (f"@cert-authority * {ED}\n", "h", 22, ()),
    "comments": (f"# h {ED}\n\n  \nh\nh ssh-ed25519\nh {ED}\n", "h", 22, (ED,)),
    "nothing": ("", "h", 22, ()),
}


@pytest.mark.parametrize(("text", "name", "port", "found"), KNOWN.values(), ids=KNOWN)
def test_known_hosts(text: str, name: str, port: int, found: tuple[str, ...]) -> None:
    assert keys_of(text, name, port) == found


def test_known_hosts_as_ssh_keygen_hashes_them(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"192.0.2.1 {ED}\n[192.0.2.2]:2222 {ECDSA}\n")
    subprocess.run(["ssh-keygen", "-H", "-f", str(file)], check=True, capture_output=True)
    text = file.read_text()
    assert "192.0.2" not in text
    assert keys_of(text, "192.0.2.1", 22) == (ED,)
    assert keys_of(text, "192.0.2.2", 2222) == (ECDSA,)
    assert keys_of(text, "192.0.2.2", 22) == ()


PASSPHRASE = "needs a passphrase"
# (what is in the file, what is wrong with it)
KEY_FILES = {
    "openssh": (private_key(), None),
    "rsa": ("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n", None),
    "ec": ("-----BEGIN EC PRIVATE KEY-----\nAAAA\n", None),
    "pkcs8": ("\n-----BEGIN PRIVATE KEY-----\nAAAA\n", None),
    "openssh-encrypted": (private_key(cipher=b"aes256-ctr"), PASSPHRASE),
    "pkcs8-encrypted": ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n", PASSPHRASE),
    "legacy-encrypted": (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n",
        PASSPHRASE,
    ),
    "token": (private_key(kind=b"sk-ssh-ed25519@openssh.com"), "in a hardware token"),
    "public": (f"{ED} me@here\n", "is a public key"),
    "putty": ("PuTTY-User-Key-File-3: ssh-ed25519\n", "is a key of PuTTY"),
    "certificate": ("-----BEGIN CERTIFICATE-----\n", "is no private key that SSH knows"),
    "empty": ("", "is no private key that SSH knows"),
    "broken": ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAA\n", "is a broken private key"),
}


@pytest.mark.parametrize(("text", "words"), KEY_FILES.values(), ids=KEY_FILES)
def test_key_files(text: str, words: str | None) -> None:
    found = keyfiles.fault(text)
    assert (found is None) == (words is None)
    assert words is None or words in str(found)


@pytest.mark.parametrize("passphrase", ["", "secret"])
@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_key_files_as_ssh_keygen_makes_them(kind: str, passphrase: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    command = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    assert keyfiles.file_fault(str(file)) == (keyfiles.NO_PASSPHRASE if passphrase else None)


M, N = host("m1", "master"), host("n1")


def test_the_first_key_that_exists_logs_in(home: Path) -> None:
    assert good(keys(M, N)).metal.key_file == "~/.ssh/id_ed25519"
    (home / ".ssh" / "id_ed25519").rename(home / ".ssh" / "id_rsa")
    assert {h.key_file for h in good(keys(M, N)).metal.hosts} == {"~/.ssh/id_rsa"}


def test_no_key_at_all(home: Path) -> None:
    (home / ".ssh" / "id_ed25519").unlink()
    expect(
        Bad(
            keys(M, N),
            "metal.keyFile",
            None,
            "is missing: there is none of ~/.ssh/id_ed25519, ~/.ssh/id_ecdsa, ~/.ssh/id_rsa",
            "add keyFile: the file of a private key",
        )
    )
    (home / "own").write_text(private_key())
    good(keys(*({**each, "keyFile": "~/own"} for each in (M, N))))


def test_a_key_with_a_passphrase_is_told_once_and_not_shown(home: Path) -> None:
    (home / "key").write_text(private_key(cipher=b"aes256-ctr"))
    raw = keys(M, N, keyFile="~/key", bastion={"address": "b", "hostKey": HOST_KEY})
    (problem,) = problems(raw).values()
    assert (problem.path, problem.value) == ("metal.keyFile", "~/key")
    assert problem.message.startswith("needs a passphrase")
    assert "ssh-keygen -t ed25519 -N ''" in problem.remedy
    own = problems(keys(*({**each, "keyFile": "~/key"} for each in (M, N))))
    assert list(own) == ["metal.hosts[0].keyFile"]


def test_a_key_in_place_of_its_file_is_not_shown() -> None:
    (problem,) = problems(keys(M, N, keyFile=private_key())).values()
    assert problem.path == "metal.keyFile"
    assert str(problem).splitlines()[0] == "metal.keyFile: (hidden)"


def test_a_key_file_is_looked_for_beside_the_program(home: Path) -> None:
    assert str(home)
    (problem,) = problems(keys(M, {**N, "keyFile": "keys/none"})).values()
    assert problem.path == "metal.hosts[1].keyFile"
    assert problem.message == f"is not there: no file {Path.cwd() / 'keys' / 'none'}"


def unknown(each: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in each.items() if key != "hostKey"}


def test_host_keys_are_found_in_known_hosts(home: Path) -> None:
    known = home / ".ssh" / "known_hosts"
    bastion = {"address": "b.example.com", "port": 2200}
    known.write_text(
        f"{M['address']} {RSA}\n{M['address']} {ED}\n[{N['address']}]:2222 {ECDSA}\n"
        f"[b.example.com]:2200 {WIDER}\n"
    )
    config = good(keys(unknown(M), {**unknown(N), "port": 2222}, bastion=bastion))
    assert [each.host_key for each in config.metal.hosts] == [ED, ECDSA]
    assert config.metal.bastion is not None
    assert config.metal.bastion.host_key == WIDER
    known.rename(home / "hosts")
    assert config == good(
        keys(unknown(M), {**unknown(N), "port": 2222}, bastion=bastion, knownHostsFile="~/hosts")
    ).model_copy(update={"metal": config.metal})


def test_the_config_s_host_key_wins_and_loses_its_comment(home: Path) -> None:
    (home / ".ssh" / "known_hosts").write_text(f"{N['address']} {ED}\n")
    config = good(keys(M, {**N, "hostKey": f"{HOST_KEY} root@n1"}))
    assert [each.host_key for each in config.metal.hosts] == [HOST_KEY, HOST_KEY]


def test_an_unknown_host_is_never_taken_unseen() -> None:
    found = problems(keys(M, {**unknown(N), "port": 2222}, bastion={"address": "b"}))
    assert list(found) == ["metal.bastion.hostKey", "metal.hosts[1].hostKey"]
    for problem, place in zip(
        found.values(), ("b port 22", f"{N['address']} port 2222"), strict=True
    ):
        assert f"is missing, and for {place} ~/.ssh/known_hosts is not there" in problem.message
        assert "is never taken unseen" in problem.message
        assert f"`ssh-keyscan -p {place.split()[-1]} {place.split()[0]}`" in problem.remedy
        assert "on the machine's console" in problem.remedy


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{N['address']} {RSA}\n", "known_hosts has none"),
        (f"{N['address']} {ED}\n{N['address']} {HOST_KEY}\n", "known_hosts has 2 of one type"),
    ],
)
def test_what_known_hosts_lacks(text: str, words: str, home: Path) -> None:
    (home / ".ssh" / "known_hosts").write_text(text)
    (problem,) = problems(keys(M, unknown(N))).values()
    assert words in problem.message


def test_what_a_host_does_not_say_the_section_says() -> None:
    config = good(
        keys(
            {**M, "user": "root"},
            {**N, "port": 2222},
            user="operator",
            port=2200,
            bastion={"address": "b", "hostKey": HOST_KEY},
        )
    )
    assert [(each.user, each.port) for each in config.metal.hosts] == [
        ("root", 2200),
        ("operator", 2222),
    ]
    bastion = config.metal.bastion
    assert bastion is not None
    assert (bastion.user, bastion.port, bastion.key_file) == ("operator", 22, "~/.ssh/id_ed25519")
