"""What a machine needs beyond an ordinary container, as options of `docker create`.

One way for every engine: capability by capability instead of `--privileged`, which some kernels
refuse because they lack one capability. The rest of what `--privileged` does is asked for by name.
"""

from __future__ import annotations

from pathlib import Path

# In the kernel's order, up to the last that every supported engine knows by name.
CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"),
    *("SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW"),
    *("IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT"),
    *("SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD"),
    *("LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG"),
    *("WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ"),
)


def capabilities(status: str) -> list[str]:
    """The capabilities to add, given /proc/self/status; all when it lacks none or is not known."""
    for line in status.splitlines():
        key, _, value = line.partition(":")
        if key == "CapBnd":
            held = int(value, 16)
            missing = [name for bit, name in enumerate(CAPABILITIES) if not held >> bit & 1]
            if missing:
                return [name for name in CAPABILITIES if name not in missing]
    return ["ALL"]


def options(status: str, *, modules: bool) -> list[str]:
    """The options; `modules` says whether the engine's computer has a folder of kernel modules."""
    return [
        *(f"--cap-add={name}" for name in capabilities(status)),
        *("--security-opt", "seccomp=unconfined"),
        *("--security-opt", "apparmor=unconfined"),
        *("--security-opt", "systempaths=unconfined"),
        *("--device-cgroup-rule", "a *:* rwm"),
        *("--device", "/dev/kmsg"),  # the kubelet reads there what ran out of memory
        # In the host's cgroup namespace two kubelets would remove each other's pods.
        "--cgroupns=private",
        *("--tmpfs", "/run:exec,mode=755", "--tmpfs", "/tmp:exec"),  # noqa: S108  (the machine's)
        # The engine would make a folder that is not there, and leave it.
        *(["--volume", "/lib/modules:/lib/modules:ro"] if modules else []),
    ]


def machine_options(*, in_vm: bool) -> list[str]:
    """The options for this computer's engine, or for one in Docker Desktop's virtual machine."""
    status = "" if in_vm else Path("/proc/self/status").read_text()
    return options(status, modules=in_vm or Path("/lib/modules").is_dir())
