"""What is compared: plans, states and results as plain data, by the resources' names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from bench.plugins import certificates
from bench.plugins.words import plain

Facts = dict[str, Any]

_SECRET_MARK = "4dabf18193072939515e22adb298388d"  # noqa: S105 - the state's mark of a secret
_OURS = ("command:", "tls:")  # the types whose plugins are compared
_PEM: Mapping[str, Callable[[str, Mapping[str, str]], Facts]] = {
    "certPem": certificates.certificate,
    "certRequestPem": certificates.request,
}
_OPTIONS = ("type", "custom", "parent", "protect", "additionalSecretOutputs", "deletedWith")


def short(urn: str) -> str:
    """A resource's type and name."""
    _, kind, name = urn.rsplit("::", 2)
    return f"{kind.rsplit('$', 1)[-1]} {name}"


def plan(document: Mapping[str, Any], names: Mapping[str, str]) -> Facts:
    """What the engine would do to each resource, and with which inputs."""
    return {
        short(step["urn"]): {
            "op": step["op"],
            "inputs": plain((step.get("newState") or {}).get("inputs") or {}, names),
            "replaced because of": sorted(step.get("replaceReasons") or ()),
            "changed": plain(step.get("detailedDiff") or {}, {}),
        }
        for step in document.get("steps") or ()
    }


def is_quiet(document: Mapping[str, Any]) -> bool:
    """Whether a plan changes nothing."""
    return all(step["op"] == "same" for step in document.get("steps") or ())


def state(hidden: Mapping[str, Any], names: Mapping[str, str]) -> Facts:
    """What the stack knows of each resource; secrets only as such. Of ours, outputs as well."""
    return {
        short(item["urn"]): {
            **{key: item.get(key) for key in _OPTIONS},
            "dependencies": sorted(short(urn) for urn in item.get("dependencies") or ()),
            "inputs": plain(_masked(item.get("inputs") or {}), names),
            "outputs": plain(_masked(item.get("outputs") or {}), names)
            if item["type"].startswith(_OURS)
            else sorted(key for key in item.get("outputs") or {} if not key.startswith("__")),
        }
        for item in hidden["deployment"].get("resources") or ()
    }


def _masked(value: Any) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Secrets are encrypted, another way in each run."""
    if isinstance(value, dict):
        if _SECRET_MARK in value:
            return "<secret>"
        return {key: _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value


def issued(shown: Mapping[str, Any], names: Mapping[str, str]) -> Facts:
    """What each certificate and each request of a stack says."""
    return {
        f"{short(item['urn'])} {key}": read(_revealed(item["outputs"][key]), names)
        for item in shown["deployment"].get("resources") or ()
        for key, read in _PEM.items()
        if key in (item.get("outputs") or {})
    }


def keys(shown: Mapping[str, Any]) -> Facts:
    """How each private key is written; of the keys themselves nothing is kept."""
    return {
        f"{short(item['urn'])} {key}": _revealed(value).splitlines()[:1]
        for item in shown["deployment"].get("resources") or ()
        if item["type"].endswith(":PrivateKey")
        for key, value in sorted((item.get("outputs") or {}).items())
        if key.startswith(("private", "public")) and "Fingerprint" not in key
        if "PRIVATE" in _revealed(value) or "PUBLIC" in _revealed(value)
    }


def _revealed(value: Any) -> str:  # noqa: ANN401 - JSON has no narrower type
    if isinstance(value, dict) and "plaintext" in value:
        return str(json.loads(value["plaintext"]))
    return str(value)


def results(outputs: Mapping[str, Any], names: Mapping[str, str]) -> Facts:
    """What a stack exports; the kubeconfig is a secret, and told of as one."""
    shown = {key: value for key, value in outputs.items() if key != "kubeconfig"}
    return {"names": sorted(outputs), **plain(shown, names)}
