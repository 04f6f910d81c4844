"""Ansible inventories: whose variables win, what a line means, and what is refused."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from components.metal.inventories import ansible, documents, ini
from components.metal.inventories.groups import Groups, Merged
from components.metal.inventories.jump import JumpError, bastion_of
from components.metal.inventories.patterns import PatternError, hosts_of

PATTERNS: dict[str, tuple[tuple[str, ...], int | None]] = {
    "web": (("web",), None),
    "web.example.com": (("web.example.com",), None),
    "web:2222": (("web",), 2222),
    "web[1:3]": (("web1", "web2", "web3"), None),
    "web[01:03].x:2222": (("web01.x", "web02.x", "web03.x"), 2222),
    "web[8:12:2]": (("web8", "web10", "web12"), None),
    "web[:2]": (("web0", "web1", "web2"), None),
    "db-[a:c]": (("db-a", "db-b", "db-c"), None),
    "r[1:2]-n[a:b]": (("r1-na", "r1-nb", "r2-na", "r2-nb"), None),
}


@pytest.mark.parametrize(("pattern", "found"), PATTERNS.items())
def test_patterns(pattern: str, found: tuple[tuple[str, ...], int | None]) -> None:
    assert hosts_of(pattern) == found


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("web:ssh", "is no host"),
        ("web[1:3", "is no host"),
        ("2001:db8::1", "is no host"),
        ("web[1]", "has brackets that are no range"),
        ("web[1,3]", "has brackets that are no range"),
        ("web[01:100]", "as many digits in both"),
        ("web[3:1]", "in which nothing is"),
        ("web[a:3]", "in which nothing is"),
        ("web[1:3:0]", "in which nothing is"),
    ],
)
def test_what_is_no_pattern(pattern: str, words: str) -> None:
    with pytest.raises(PatternError, match=words):
        hosts_of(pattern)


JUMPS: dict[str, dict[str, Any] | None] = {
    "": None,
    "-J b": {"address": "b", "port": 22},
    "-Jop@b.example.com:2200": {"address": "b.example.com", "port": 2200, "user": "op"},
    "-o ProxyJump=op@192.0.2.1": {"address": "192.0.2.1", "port": 22, "user": "op"},
    "-oProxyJump=ssh://op@b:22": {"address": "b", "port": 22, "user": "op"},
    "-o 'proxyjump b'": {"address": "b", "port": 22},
    "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -C -o ControlPersist=60s": None,
    "-o ConnectTimeout=5 -J op@b -A": {"address": "b", "port": 22, "user": "op"},
}


@pytest.mark.parametrize(("arguments", "found"), JUMPS.items())
def test_jumps(arguments: str, found: dict[str, Any] | None) -> None:
    assert bastion_of(arguments) == found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("-o ProxyCommand='ssh -W %h:%p op@b'", "has -o ProxyCommand=ssh -W %h:%p op@b"),
        ("-oProxyCommand=none", "has -oProxyCommand=none"),
        ("-F ssh_config", "has -F ssh_config"),
        ("-o HostName=x", "has -o HostName=x"),
        ("-i key", "has -i key"),
        ("-p 2222", "has -p 2222"),
        ("-J a,b", "has a,b, where one USER@HOST:PORT is understood"),
        ("-J a -o ProxyJump=b", "has a and b, where one"),
        ("-J 'a", "cannot be split into words"),
        ("host", "has host"),
    ],
)
def test_ways_that_are_not_understood(arguments: str, words: str) -> None:
    with pytest.raises(JumpError) as caught:
        bastion_of(arguments)
    assert str(caught.value).startswith(words)


def variables(groups: Groups, host: str) -> dict[str, Any]:
    assert groups.faults == []
    return dict(Merged(groups).variables(host))


# What Ansible itself (ansible-core 2.19) makes of these inventories.
PRECEDENCE = """
[all:vars]
who=all
only=all
[parent:children]
child
[parent:vars]
who=parent
[child]
h
own who=host
[child:vars]
who=child
[beside]
h
[beside:vars]
who=beside
[zz]
h
[zz:vars]
side=zz
[aa]
h
[aa:vars]
side=aa
ansible_group_priority=2
"""


def test_whose_variables_win() -> None:
    groups = ini.read(PRECEDENCE)
    found = variables(groups, "h")
    assert (found["who"], found["only"]) == ("child", "all")
    assert found["side"] == "aa", "priority wins over the alphabet"
    assert variables(groups, "own")["who"] == "host"


def test_words_and_values_of_ini() -> None:
    groups = ini.read(
        textwrap.dedent("""\
            first a=1 b='x y' c="[1, 2]" d=007 e=True f=a=b  # a comment
            ; a comment
            [g]  # a comment
            second:2200
            first:99
            [g:vars]
            plain = text # no comment
            quoted = "text"
        """)
    )
    assert variables(groups, "first") == {
        "a": 1,
        "b": "x y",
        "c": [1, 2],
        "d": "007",
        "e": True,
        "f": "a=b",
        "plain": "text # no comment",
        "quoted": "text",
    }
    assert variables(groups, "second")["ansible_port"] == 2200


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("h word", "word is no NAME=VALUE"),
        ("h a='", "cannot be split into words"),
        ("h[1:x] a=1", "h[1:x] has a range from 1 to x"),
        ("[g:hosts_of]\nh", "a section of hosts_of is none of hosts, children and vars"),
        ("[g:vars]\nh", "h is no NAME=VALUE"),
        ("[g:children]\nh a=1", "h a=1 is no name of a group"),
    ],
)
def test_a_line_that_is_not_understood(line: str, words: str) -> None:
    """Each of them, by its number; the rest is read."""
    groups = ini.read(f"[masters]\nm\n{line}\n")
    (fault,) = groups.faults
    assert fault.message.startswith(words)
    assert fault.place == f"line {3 + ('vars' in line or 'children' in line)}"
    assert "m" in groups.own


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("all: [", "the file", "is no YAML"),
        ("---\n- m1\n", "the file", "has no groups by name"),
        ("all:\n  hosts: [m1]\n", "group all, hosts", "has no names with values"),
        ("all:\n  childs: {}\n", "group all", "childs is none of hosts, children, vars"),
        ("all:\n  hosts:\n    m1: 192.0.2.1\n", "host m1", "has no names with values"),
        ("all: text\n", "group all", "has no names with values"),
    ],
)
def test_yaml_that_is_not_understood(text: str, place: str, words: str) -> None:
    (fault,) = documents.read_yaml(text).faults
    assert fault.place == place
    assert words in fault.message


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("{", "the file", "is no JSON"),
        ('{"g": ["m1"]}', "group g", "has no names with values"),
        ('{"g": {"hosts": {"m1": {}}}}', "group g", "has something else than a list of names"),
        ('{"_meta": {"hostvars": {"m1": 1}}}', "host m1", "has no names with values"),
        ('{"_meta": []}', "_meta", "has no names with values"),
    ],
)
def test_json_that_is_not_understood(text: str, place: str, words: str) -> None:
    (fault,) = documents.read_json(text).faults
    assert fault.place == place
    assert words in fault.message


def faults(text: str) -> dict[str, str]:
    return {fault.place: fault.message for fault in ansible.parse(textwrap.dedent(text)).faults}


def test_what_only_ansible_could_work_out_is_refused_where_it_matters() -> None:
    text = """\
        all:
          hosts:
            db: {ansible_host: "{{ anything }}"}
          children:
            masters:
              vars: {unused: "{{ x }}", ansible_user: !vault "$ANSIBLE_VAULT;1.1"}
              hosts:
                m1: {ansible_host: "{{ first }}", ip: !unsafe "10.0.0.1"}
                m2: {kubernetes_anywhere_labels: {a: "{% if x %}"}}
    """
    found = faults(text)
    assert found == {
        "host m1, ansible_host": "is the expression {{ first }}, which only Ansible can work out",
        "host m1, ansible_user": "is encrypted by Ansible Vault",
        "host m2, ansible_user": "is encrypted by Ansible Vault",
        "host m2, kubernetes_anywhere_labels": "is the expression {'a': '{% if x %}'}, which only "
        "Ansible can work out",
    }
    (first, _) = ansible.parse(textwrap.dedent(text)).hosts
    assert isinstance(first.value, dict)
    assert first.value["internalAddress"] == "10.0.0.1"


@pytest.mark.parametrize("group", ["kube_control_plane", "control_plane", "masters"])
@pytest.mark.parametrize("others", ["kube_node", "nodes", "workers"])
def test_groups_by_whatever_name(group: str, others: str) -> None:
    found = ansible.parse(f"x\n[{group}]\na\n[{others}:children]\nmine\n[mine]\nb\n")
    assert [entry.value for entry in found.hosts] == [
        {"name": "a", "role": "master", "address": "a"},
        {"name": "b", "role": "node", "address": "b"},
    ]
    assert found.faults == ()


def test_groups_that_say_nothing() -> None:
    (message,) = faults("[web]\na\n").values()
    assert message == (
        "has no host in kube_control_plane, control_plane, masters or kube_node, nodes, workers; "
        "its groups are all, web"
    )


def test_a_host_is_one_of_the_two() -> None:
    found = faults("[masters]\na\nb\n[nodes]\na\n")
    assert found == {"host a": "is in masters and nodes, but a host is a master or a node"}


def test_a_group_below_itself() -> None:
    found = faults("[masters:children]\na\n[a:children]\nb\n[b:children]\na\n[nodes]\nn\n")
    assert found == {"group a": "is below itself"}


def test_a_host_that_is_not_reached_by_ssh() -> None:
    found = faults("[masters]\na ansible_connection=local\nb ansible_connection=ssh\n")
    assert list(found) == ["host a"]
    assert "has ansible_connection: local, but hosts are reached by SSH" in found["host a"]


def test_old_names_of_variables_and_ports_as_text() -> None:
    text = """\
        masters:
          hosts:
            a: {ansible_ssh_host: 192.0.2.1, ansible_ssh_user: u, ansible_ssh_port: "2222"}
            b: {ansible_host: 192.0.2.2, ansible_ssh_host: no, ansible_user: "7"}
    """
    a, b = (entry.value for entry in ansible.parse(textwrap.dedent(text)).hosts)
    assert a == {
        "name": "a",
        "role": "master",
        "address": "192.0.2.1",
        "user": "u",
        "port": 2222,
    }
    assert b == {"name": "b", "role": "master", "address": "192.0.2.2", "user": "7"}


BASTIONS: dict[str, tuple[str, dict[str, Any] | None, list[str]]] = {
    "arguments": (
        "[masters]\na\nb\n[all:vars]\nansible_ssh_common_args='-J op@gate:2200'\n",
        {"user": "op", "address": "gate", "port": 2200},
        [],
    ),
    "both-arguments": (
        "[masters]\na ansible_ssh_common_args=-C ansible_ssh_extra_args='-J gate'\n",
        {"address": "gate", "port": 22},
        [],
    ),
    "arguments-win": (
        "[bastion]\nx\n[masters]\na ansible_ssh_common_args='-J gate'\n",
        {"address": "gate", "port": 22},
        [],
    ),
    "group": (
        "[masters]\na\n[bastion]\nx ansible_host=192.0.2.9 ansible_user=op\n",
        {"address": "192.0.2.9", "user": "op"},
        [],
    ),
    "none": ("[masters]\na\n", None, []),
    "two": ("[masters]\na\n[bastion]\nx\ny\n", None, ["group bastion"]),
    "different": (
        "[masters]\na ansible_ssh_common_args='-J gate'\nb\n",
        None,
        ["hosts a and b"],
    ),
    "command": (
        "[masters]\na ansible_ssh_common_args='-o ProxyCommand=\"ssh -W %h:%p gate\"'\n",
        None,
        ["host a, ansible_ssh_common_args"],
    ),
    "expression": (
        "[masters]\na\n[all:vars]\nansible_ssh_common_args='-J {{ gate }}'\n",
        None,
        ["host a, ansible_ssh_common_args"],
    ),
}


@pytest.mark.parametrize(("text", "bastion", "places"), BASTIONS.values(), ids=BASTIONS)
def test_bastions(text: str, bastion: dict[str, Any] | None, places: list[str]) -> None:
    found = ansible.parse(text)
    assert {key: entry.value for key, entry in found.others.items()} == (
        {"bastion": bastion} if bastion else {}
    )
    assert [fault.place for fault in found.faults] == places
    for fault in found.faults:
        assert fault.key == "bastion", "who writes metal.bastion need not care"
        assert fault.remedy
