"""The Pulumi engine: its CLI, the host of Python programs, the kubernetes provider."""

from __future__ import annotations

import json
from pathlib import Path

from airgap.copies import Copy, Edit
from airgap.gobuild import GoBuild
from airgap.recipes import SHARED

PULUMI_VERSION = "3.274.1"
# What the SDK on PyPI is; a provider that says less draws a warning in each run.
KUBERNETES_SDK_VERSION = "4.34.2"

_SDK = "github.com/pulumi/pulumi/sdk/v3"
_PKG = "github.com/pulumi/pulumi/pkg/v3"
_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_PROVIDER_SDK = "github.com/pulumi/pulumi-kubernetes/sdk/v4"
_GO_FILES = Path(__file__).parents[1] / "go"

# The clouds' SDKs are a third of all that the CLI links, for stacks and keys that it could keep
# there, and for `pulumi env setup`. Where this build is used, they are out of reach.
PULUMI = GoBuild(
    name="pulumi",
    module=_PKG,
    version=f"v{PULUMI_VERSION}",
    packages=(f"{_PKG}/cmd/pulumi",),
    variables={f"{_SDK}/go/common/version.Version": f"v{PULUMI_VERSION}"},
    copies=(
        Copy(
            module=_PKG,
            version=f"v{PULUMI_VERSION}",
            without=tuple(f"cmd/esc/cli/setup_{cloud}.go" for cloud in ("aws", "azure", "gcp")),
            patch=(_GO_FILES / "pulumi.patch").read_text(),
        ),
    ),
)

# Later versions of the module no longer carry this package.
_HOST_VERSION = "v3.68.0"
_HOST_FOLDER = "python/cmd/pulumi-language-python"
PYTHON_HOST = GoBuild(
    name="pulumi-language-python",
    module=_SDK,
    version=_HOST_VERSION,
    align=f"{_PKG} v{PULUMI_VERSION}",
    packages=(f"{_SDK}/{_HOST_FOLDER}",),
    variables={f"{_SDK}/go/common/version.Version": f"v{PULUMI_VERSION}"},
    copies=(
        Copy(
            module=_SDK,
            version=_HOST_VERSION,
            keep=("go.mod", "go", "nodejs/npm", "proto", "python"),
            add={f"{_HOST_FOLDER}/list.go": (_GO_FILES / "list.go").read_text()},
            edits=tuple(
                Edit(
                    file=f"{_HOST_FOLDER}/main.go",
                    old=f'{{"-m", "pip", "list", {options}}}',
                    new='{"-c", listPackages}',
                )
                for options in ('"-v", "--format", "json"', '"--format=json"')
            ),
        ),
    ),
)


def set_schema_version_1(folder: Path) -> None:
    """What the provider's own `go generate` does: its schema, with the version that it claims."""
    command = folder / "cmd" / "pulumi-resource-kubernetes"
    schema = json.loads((command / "schema.json").read_text())
    schema["version"] = KUBERNETES_SDK_VERSION
    (command / "schema-embed.json").write_text(json.dumps(schema))
    mapping = json.loads((command / "terraform-mapping.json").read_text())
    (command / "terraform-mapping-embed.json").write_text(json.dumps(mapping))


# The provider links its own Go SDK, a quarter of all that there is to compile, only to name the
# type of each object of a YAML file; a page of code does the same. Its other dependencies are
# moved to the versions that Kubernetes has, which have to be compiled anyway.
KUBERNETES_PROVIDER = GoBuild(
    name="pulumi-resource-kubernetes",
    module=_PROVIDER,
    version="v4.0.0-20260115033456-f47bc2d6f199",
    packages=(f"{_PROVIDER}/cmd/pulumi-resource-kubernetes",),
    align=SHARED,
    requires={
        "github.com/fluxcd/pkg/ssa": "v0.72.0",
        "helm.sh/helm/v3": "v3.22.0",
        "sigs.k8s.io/structured-merge-diff/v6": "v6.4.2",
    },
    variables={f"{_PROVIDER}/pkg/version.Version": KUBERNETES_SDK_VERSION},
    copies=(
        Copy(
            module=_PROVIDER,
            version="v4.0.0-20260115033456-f47bc2d6f199",
            edits=(
                Edit(
                    file="pkg/await/await.go",
                    old="structured-merge-diff/v4/fieldpath",
                    new="structured-merge-diff/v6/fieldpath",
                ),
            ),
            prepare=set_schema_version_1,
        ),
        Copy(
            module=_PROVIDER_SDK,
            version="v4.22.2",
            keep=(
                "go/kubernetes/customPulumiTypes.go",
                "go/kubernetes/utilities",
                "go/kubernetes/helm/v4",
            ),
            add={
                "go.mod": f"module {_PROVIDER_SDK}\n\ngo 1.22\n",
                "go/kubernetes/yaml/v2/register.go": (_GO_FILES / "register.go").read_text(),
            },
        ),
    ),
)

ENGINE = (PULUMI, KUBERNETES_PROVIDER, PYTHON_HOST)
