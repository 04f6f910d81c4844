"""The design's rules as tests, by reading the source. Each rule is tried on a bad sample, too.

A rule is a function from a tree ({path: source}) to what breaks it. The lists below are the rules'
data: whoever adds an entry says there why.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import get_args

import pytest

from config import ClusterConfig
from versions import RELEASES

ROOT = Path(__file__).parent.parent
PLATFORMS: tuple[str, ...] = get_args(ClusterConfig.model_fields["platform"].annotation)
PROGRAM = ("bootstrap", "components", "addons", "validation")
LINES = 300
# What the phases share: the config and its version table, and the contract between them.
SHARED = {"config", "findings", "forms", "interface", "metal", "model", "versions"}
CLOUD_SDKS = {"pulumi_aws", "pulumi_gcp", "pulumi_azure_native", "pulumi_azuread", "pulumi_eks"}
ONLY_IN = {
    "pulumi_command": {"bootstrap/remote.py", "components/local/host.py"},
    "pulumi_kubernetes": {"addons/deploy.py"},
    "pulumi_tls": {
        "components/pki/__init__.py",
        "components/keys.py",  # those of SSH
    },
}
SWITCH = "components/__init__.py"
# The one package that is allowed to know platforms by name, and the config that lists them.
KNOWS_PLATFORMS = ("components/", "config.py", "configdoc.py")
# Each module of a platform, and what it defines.
PLATFORM_CLASSES = {
    "platform.py": "provision",
    "network.py": "Network",
    "masters.py": "Masters",
    "nodes.py": "Nodes",
    "rules.py": "rules",
}
# A literal and the modules that are its home. Whole files under bootstrap/files are read, not run.
HOMES: Mapping[str, set[str]] = {
    r"(?<!\d)6443(?!\d)": {"interface.py"},
    r"(?<!\d)(?:10257|10259)(?!\d)": {"bootstrap/render.py"},
    r"(?<!\d)(?:2379|2380|8472|10250)(?!\d)": {"interface.py"},
    r"/etc/kubernetes/pki": {"interface.py"},
    r"/etc/kubernetes/in-cluster": {"interface.py"},
    r"/etc/kubernetes/addons": {"interface.py"},
    r"\bv1\.\d\d\.\d": {"versions.py"},
    r"registry\.k8s\.io/|ghcr\.io/|gcr\.io/": {"versions.py"},
}

Tree = Mapping[str, str]
Rule = Callable[[Tree], list[str]]


def program() -> dict[str, str]:
    """The program's own source: what runs when `pulumi up` does."""
    folders = (ROOT / folder for folder in PROGRAM)
    paths = [*ROOT.glob("*.py"), *(path for folder in folders for path in folder.rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(paths)}


def sources() -> dict[str, str]:
    """All Python of the repository but the tests, which are tables of cases."""
    folders = [path for path in ROOT.iterdir() if path.name[0] not in "._" and path.name != "tests"]
    paths = [*ROOT.glob("*.py"), *(path for folder in folders for path in folder.rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(paths)}


def imports(path: str, source: str) -> Iterator[str]:
    """Every module that a source imports, at its top, in a function or for types only."""
    package = path.split("/")[:-1]
    for item in ast.walk(ast.parse(source)):
        if isinstance(item, ast.Import):
            yield from (name.name for name in item.names)
        elif isinstance(item, ast.ImportFrom):
            base = package[: len(package) - item.level + 1] if item.level else []
            yield ".".join([*base, *([item.module] if item.module else [])])


def texts(source: str) -> Iterator[str]:
    """Every literal of a source that is no docstring, as text."""
    tree = ast.parse(source)
    documentation = {
        id(item.body[0].value)
        for item in ast.walk(tree)
        if isinstance(item, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and item.body
        and isinstance(item.body[0], ast.Expr)
    }
    for item in ast.walk(tree):
        if isinstance(item, ast.Constant) and id(item) not in documentation:
            yield str(item.value)


def top(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


def owned(tree: Tree) -> set[str]:
    """The names that the tree's own modules and packages are imported by."""
    return {path.split("/", 1)[0].removesuffix(".py") for path in tree}


def phases_apart(tree: Tree) -> list[str]:
    """`components` and `bootstrap` know nothing of each other, and share three modules."""
    own = owned(tree) | {"addons", "bootstrap", "components"}
    return [
        f"{path} imports {module}"
        for path, source in tree.items()
        if path.startswith(("bootstrap/", "components/"))
        for module in imports(path, source)
        if top(module) in own - SHARED - {path.split("/", 1)[0]}
    ]


def shared_is_plain(tree: Tree) -> list[str]:
    """What everybody imports imports nobody, and no cloud SDK."""
    allowed = {
        "config.py": {"forms", "metal", "model", "versions", "configdoc"},
        "metal.py": {"forms", "model", "versions"},
        "model.py": {"forms", "versions"},
        "forms.py": {"versions"},
        "findings.py": set(),
        "versions.py": set(),
        "interface.py": {"config"},
    }
    own = owned(tree)
    return [
        f"{path} imports {module}"
        for path, reach in allowed.items()
        for module in imports(path, tree.get(path, ""))
        if top(module) in (own - reach) | CLOUD_SDKS
    ]


def no_cloud_in_bootstrap(tree: Tree) -> list[str]:
    """Phase 2 is the same for every platform."""
    return [
        f"{path} imports {module}"
        for path, source in tree.items()
        for module in imports(path, source)
        if top(module) in CLOUD_SDKS and not re.match(r"components/[a-z]+/", path)
    ]


def each_sdk_in_its_place(tree: Tree) -> list[str]:
    """A resource package is imported where its rules live, and nowhere else."""
    return [
        f"{path} imports {module}"
        for path, source in tree.items()
        for module in imports(path, source)
        if path not in ONLY_IN.get(top(module), {path})
    ]


def one_switch(tree: Tree) -> list[str]:
    """Nobody asks which platform it is; one place imports it by name."""
    found = []
    for path, source in tree.items():
        for item in ast.walk(ast.parse(source)):
            if not isinstance(item, ast.Attribute) or item.attr != "platform":
                continue
            if path != SWITCH and not (isinstance(item.value, ast.Name) and item.value.id == "sys"):
                found.append(f"{path}:{item.lineno} asks for the platform")
    return found


def no_platform_by_name(tree: Tree) -> list[str]:
    """Outside of `components` no literal is a platform's name."""
    names = {*PLATFORMS, "gce", "aws", "azure", "metal"}
    return [
        f"{path} has the literal {text!r}"
        for path, source in tree.items()
        for text in texts(source)
        if text in names and not path.startswith(KNOWS_PLATFORMS)
    ]


def platforms_alike(tree: Tree) -> list[str]:
    """Every platform package has the same modules, the same classes and the same entry."""
    found = []
    for name in PLATFORMS:
        for module, wanted in PLATFORM_CLASSES.items():
            source = tree.get(f"components/{name}/{module}")
            if source is None:
                found.append(f"components/{name}/{module} is missing")
                continue
            defined = {
                item.name
                for item in ast.parse(source).body
                if isinstance(item, ast.ClassDef | ast.FunctionDef)
            }
            if wanted not in defined:
                found.append(f"components/{name}/{module} does not define {wanted}")
    return found


def short_modules(tree: Tree) -> list[str]:
    """A module is read in one sitting."""
    lengths = {path: source.count("\n") for path, source in tree.items()}
    return [f"{path} has {length} lines" for path, length in lengths.items() if length > LINES]


def literals_at_home(tree: Tree) -> list[str]:
    """A port, a path or a version that two places know by heart will differ one day."""
    return [
        f"{path} has the literal {text!r}, which belongs into {', '.join(sorted(homes))}"
        for pattern, homes in HOMES.items()
        for path, source in tree.items()
        if path not in homes
        for text in texts(source)
        if re.search(pattern, text)
    ]


# Each rule, what it reads, and a sample that it must complain about once.
RULES: Mapping[Rule, tuple[Callable[[], Tree], Tree]] = {
    phases_apart: (
        program,
        {"components/pki/x.py": "from bootstrap.step import File", "bootstrap/y.py": ""},
    ),
    shared_is_plain: (program, {"interface.py": "import bootstrap", "bootstrap/x.py": ""}),
    no_cloud_in_bootstrap: (program, {"bootstrap/x.py": "def f():\n    import pulumi_aws.ec2\n"}),
    each_sdk_in_its_place: (
        program,
        {"bootstrap/x.py": "from pulumi_command.remote import Command"},
    ),
    one_switch: (program, {"addons/x.py": "if config.platform == 'other':\n    pass\n"}),
    no_platform_by_name: (program, {"bootstrap/x.py": "kind = 'local'\n"}),
    platforms_alike: (
        program,
        {
            f"components/{name}/{module}": "" if name == PLATFORMS[0] else f"class {wanted}: ..."
            for name in PLATFORMS
            for module, wanted in PLATFORM_CLASSES.items()
        },
    ),
    short_modules: (sources, {"bootstrap/x.py": "x = 1\n" * (LINES + 1)}),
    literals_at_home: (program, {"bootstrap/x.py": "url = f'https://{host}:6443'\n"}),
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_source_keeps_the_rule(rule: Rule) -> None:
    read, _ = RULES[rule]
    tree = read()
    assert len(tree) > 20
    assert rule(tree) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_complains_about_a_bad_sample(rule: Rule) -> None:
    _, sample = RULES[rule]
    assert rule(sample)


def test_a_relative_import_is_an_import() -> None:
    assert list(imports("bootstrap/x.py", "from . import step")) == ["bootstrap"]
    assert list(imports("components/a/x.py", "from ..b import c")) == ["components.b"]


def test_docstrings_are_no_literals() -> None:
    assert list(texts('"""6443"""\ndef f():\n    """6443"""\n    return 1\n')) == ["1"]


def test_phase_2_mentions_no_platform_in_what_it_puts_on_hosts() -> None:
    names = "|".join({*PLATFORMS, "gce", "aws", "azure", "metal"} - {"local"})
    for path in (ROOT / "bootstrap").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert not re.search(rf"\b(?:{names})\b", path.read_text(), re.IGNORECASE), path


@pytest.mark.parametrize("version", RELEASES)
def test_a_file_on_a_host_has_its_versions_from_the_table(version: str) -> None:
    release = RELEASES[version]
    literals = {version, release.etcd, *(archive.version for archive in release.archives)}
    for path in (ROOT / "bootstrap" / "files").rglob("*"):
        if path.is_file():
            assert not [text for text in literals if text in path.read_text()], path


def loaded(statement: str) -> set[str]:
    """The top-level modules that are loaded after a statement, in a process of its own."""
    script = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_platform_loads_no_other_platform_s_sdk(platform: str) -> None:
    """D02: each cloud's SDK costs seconds and hundreds of megabytes."""
    found = loaded(
        "import bootstrap.hosts, bootstrap.gates, components.pki, addons.deploy, validation\n"
        f"import components.{platform}.platform"
    )
    assert {"bootstrap", "pulumi_tls", "pulumi_command"} <= found
    own = {"aws": {"pulumi_aws"}, "gce": {"pulumi_gcp"}, "azure": {"pulumi_azure_native"}}
    assert not found & (CLOUD_SDKS - own.get(platform, set()))


def test_what_makes_containers_starts_without_the_pulumi_sdk() -> None:
    """D02: it runs once for each container, and an import of pulumi is most of a second."""
    assert not loaded("import components.local.docker") & {"pulumi", "pydantic", "grpc"}


def test_the_check_of_loaded_modules_sees_an_import() -> None:
    assert "pulumi_tls" in loaded("import pulumi_tls")


def test_the_version_of_each_resource_plugin_is_pinned() -> None:
    """B02: another one may want to make CAs anew. Each SDK asks for the plugin of its own version.

    Should one be raised that does, the CAs are protected: `test_what_everything_trusts_...`.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = [project["project"]["dependencies"], *project["dependency-groups"].values()]
    plugins = [line for group in groups for line in group if line.startswith("pulumi")]
    assert len(plugins) == 7
    assert [line for line in plugins if not re.fullmatch(r"[a-z-]+==[\d.]+", line)] == []
