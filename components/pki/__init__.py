"""The cluster's certificates, by pulumi-tls: one loop over the table, and who gets which file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from pulumi import ComponentResource, Input, Output, ResourceOptions
from pulumi_tls import (
    CertRequest,
    CertRequestSubjectArgs,
    LocallySignedCert,
    PrivateKey,
    SelfSignedCert,
    SelfSignedCertSubjectArgs,
)

from components.pki import kubeconfig
from components.pki.pairs import Pair, watch
from components.pki.table import (
    AUTHORITIES,
    CERTIFICATES,
    KUBELET_CA,
    SERVICE_ACCOUNT_KEY,
    SERVICE_ACCOUNT_PUBLIC_KEY,
    Authority,
    Certificate,
    Names,
    dns_names,
    host_certificates,
    ip_addresses,
)
from config import ClusterConfig
from interface import API_PORT, IN_CLUSTER_KUBECONFIG, ApiClient, Host, HostFiles, Machines
from model import CA_HOURS, Role


@dataclass(frozen=True, kw_only=True, slots=True)
class PkiArgs:
    """The cluster and its machines: names and addresses go into certificates."""

    config: ClusterConfig
    machines: Machines


@dataclass(frozen=True, kw_only=True, slots=True)
class SubjectNames:
    """The names of one certificate; None where it has none of that kind."""

    dns: Output[list[str]] | None
    ip: Output[list[str]] | None


class ClusterPki(ComponentResource):
    """Three CAs, the service-account key and every leaf of the table. Writes no file itself."""

    ca: Output[str]
    certificates: Output[dict[str, dict[str, str]]]  # which leaf, which CA ends first, and when
    valid_from: Mapping[str, Output[str]]  # by host name, of its kubelet's certificate; RFC 3339
    client: ApiClient
    files: Mapping[str, HostFiles]  # by host name
    kubeconfig: Output[str]  # the operator's, secret

    def __init__(self, name: str, args: PkiArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:pki:ClusterPki", name, {}, opts)
        self._name, self._args = name, args
        self._child = ResourceOptions(parent=self)
        self._authorities = {row.name: self._authority(row) for row in AUTHORITIES}
        self._service_account = _key(f"{name}-service-account", self._protected())
        self._leaves: dict[str, Pair] = {}  # by the name of the resources
        self._shared = {row.name: self._leaf(row, None) for row in CERTIFICATES if not row.per_host}
        self._own = {
            host.spec.name: {
                row.name: self._leaf(row, host)
                for row in host_certificates(host.spec)
                if row.per_host
            }
            for host in args.machines.hosts
        }
        self.ca = self._authorities["ca"].certificate
        self.client = ApiClient(
            server=Output.format(
                "https://{0}:{1}", args.machines.operator_api_host, args.machines.operator_api_port
            ),
            ca=self.ca,
            certificate=self._shared["admin"].certificate,
            key=self._shared["admin"].key,
        )
        # Of the one that every host has, and that waits for nothing but the host's address.
        self.valid_from = {name: pairs["kubelet"].valid_from for name, pairs in self._own.items()}
        self.files = {host.spec.name: self._host_files(host) for host in args.machines.hosts}
        self.kubeconfig = self._kubeconfig(
            "kubernetes-admin", self.client.server, self._shared["admin"]
        )
        self.certificates = watch(
            self,
            authorities={f"{name}-{row}": pair for row, pair in self._authorities.items()},
            leaves=self._leaves,
            renew_hours=args.config.certificates.renew_hours,
        )
        self.register_outputs({})

    def _protected(self) -> ResourceOptions:
        # Another CA or token key means another cluster: everything that trusts it would have to go.
        return ResourceOptions(parent=self, protect=self._args.machines.traits.protect)

    def _authority(self, row: Authority) -> Pair:
        key = _key(f"{self._name}-{row.name}", self._protected())
        certificate = SelfSignedCert(
            f"{self._name}-{row.name}",
            private_key_pem=key.private_key_pem,
            subject=SelfSignedCertSubjectArgs(common_name=row.common_name),
            is_ca_certificate=True,
            allowed_uses=["digital_signature", "cert_signing", "crl_signing"],
            validity_period_hours=CA_HOURS,
            opts=self._protected(),
        )
        return Pair(
            key=key.private_key_pem,
            certificate=certificate.cert_pem,
            valid_from=certificate.validity_start_time,
            valid_until=certificate.validity_end_time,
        )

    def _leaf(self, row: Certificate, host: Host | None) -> Pair:
        name = f"{self._name if host is None else host.spec.name}-{row.name}"
        authority = self._authorities[row.authority]
        key = _key(name, self._child)
        host_name = "" if host is None else host.spec.name
        names = self._names(row, host)
        request = CertRequest(
            name,
            private_key_pem=key.private_key_pem,
            subject=CertRequestSubjectArgs(
                common_name=row.common_name.replace("$host", host_name),
                organization=row.organization,
            ),
            dns_names=names.dns,
            ip_addresses=names.ip,
            opts=self._child,
        )
        certificate = LocallySignedCert(
            name,
            cert_request_pem=request.cert_request_pem,
            ca_private_key_pem=authority.key,
            ca_cert_pem=authority.certificate,
            allowed_uses=list(row.uses),
            validity_period_hours=self._args.config.certificates.valid_hours,
            early_renewal_hours=self._args.config.certificates.renew_hours,
            opts=self._child,
        )
        self._leaves[name] = Pair(
            key=key.private_key_pem,
            certificate=certificate.cert_pem,
            valid_from=certificate.validity_start_time,
            valid_until=certificate.validity_end_time,
            request=request.cert_request_pem,
        )
        return self._leaves[name]

    def _names(self, row: Certificate, host: Host | None) -> SubjectNames:
        if host is None or row.names is Names.NONE:
            return SubjectNames(dns=None, ip=None)
        config, machines = self._args.config, self._args.machines
        # The endpoint comes late: who does not need its names does not wait for them.
        endpoints = (machines.api_host, machines.operator_api_host)
        known = Output.all(host.address, *(endpoints if row.names is Names.API else ()))
        return SubjectNames(
            dns=known.apply(
                lambda hosts: dns_names(row.names, config, host.spec.name, names_of(hosts[1:]))
            ),
            ip=known.apply(
                lambda hosts: ip_addresses(row.names, config, hosts[0], addresses_of(hosts[1:]))
            ),
        )

    def _kubeconfig(self, user: str, server: Input[str], pair: Pair) -> Output[str]:
        cluster = self._args.config.name
        return Output.secret(
            Output.all(server=server, ca=self.ca, certificate=pair.certificate, key=pair.key).apply(
                lambda known: kubeconfig.with_certificate(
                    cluster,
                    known["server"],
                    known["ca"],
                    user=user,
                    certificate=known["certificate"],
                    key=known["key"],
                )
            )
        )

    def _server(self, host: Host) -> Output[str]:
        # On a master everything talks to its own API server: a cloud's load balancer does not let a
        # backend reach itself through it.
        if host.spec.role is Role.MASTER:
            return Output.from_input(f"https://127.0.0.1:{API_PORT}")
        return Output.format("https://{0}:{1}", self._args.machines.api_host, API_PORT)

    def _host_files(self, host: Host) -> HostFiles:
        server, cluster = self._server(host), self._args.config.name
        files: dict[str, Input[str]] = {
            KUBELET_CA: self.ca,
            IN_CLUSTER_KUBECONFIG: Output.all(server, self.ca).apply(
                lambda known: kubeconfig.with_service_account(cluster, known[0], known[1])
            ),
        }
        for row in host_certificates(host.spec):
            pair = (self._own[host.spec.name] if row.per_host else self._shared)[row.name]
            if row.path:
                files |= {f"{row.path}.crt": pair.certificate, f"{row.path}.key": pair.key}
            if row.kubeconfig:
                files[row.kubeconfig] = self._kubeconfig(row.name, server, pair)
        return files | self._authority_files(host.spec.role)

    def _authority_files(self, role: Role) -> dict[str, Input[str]]:
        files: dict[str, Input[str]] = {}
        for row in AUTHORITIES:
            if role in row.roles:
                files[row.path] = self._authorities[row.name].certificate
                if row.key_path:
                    files[row.key_path] = self._authorities[row.name].key
        if role is Role.MASTER:
            files[SERVICE_ACCOUNT_KEY] = self._service_account.private_key_pem
            files[SERVICE_ACCOUNT_PUBLIC_KEY] = self._service_account.public_key_pem
        return files


def _key(name: str, opts: ResourceOptions) -> PrivateKey:
    return PrivateKey(name, algorithm="ECDSA", ecdsa_curve="P256", opts=opts)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def addresses_of(hosts: Sequence[str]) -> list[str]:
    """Those of the hosts that are IP addresses: a certificate holds them apart from names."""
    return [host for host in hosts if _is_address(host)]


def names_of(hosts: Sequence[str]) -> list[str]:
    """Those of the hosts that are DNS names."""
    return [host for host in hosts if not _is_address(host)]
