# Two commands matter: `make up` and `make test`. The rest are thin over plain pulumi commands.
STACK ?= local

python := .venv/bin/python
uv := .venv/bin/uv
# SIMULATED=1: the stack's cloud is a simulated one, on this computer, with stacks of its own.
ifdef SIMULATED
export XDG_STATE_HOME := $(or $(XDG_STATE_HOME),$(HOME)/.local/state)/kubernetes-anywhere/simulated
simulated := exports="$$($(python) -m tests.clouds env $(STACK))" && eval "$$exports" &&
endif
# The CAs of a cluster that is not on this computer, and etcd's disks, go only when somebody says so twice.
unprotect := $(if $(UNPROTECT)$(SIMULATED),pulumi state unprotect --all --yes --stack $(STACK) >/dev/null &&)
# In front of a pulumi command: the PATH, backend and passphrase that `make ready` chose.
# Without the agent, which the official command plugin would ask, and fail where it is gone.
with_env := exports="$$($(python) -m airgap.setup env)" && eval "$$exports" && $(simulated) unset SSH_AUTH_SOCK &&
select := pulumi stack select --create --non-interactive $(STACK) >/dev/null && $(python) -m airgap.killed $(STACK)

.PHONY: up preview down rotate-certs kubeconfig env ready test test-long check format bench compare

up: ready ## turn this computer (or STACK) into a cluster
	@$(with_env) $(select) && pulumi up --stack $(STACK) --yes --skip-preview && \
	  $(python) -m airgap.setup summary $(STACK) --make "$(MAKEOVERRIDES)"

preview: ready ## what `up` would change, line by line
	@$(with_env) $(select) && pulumi preview --diff --stack $(STACK)

# With its preview: a protected resource fails there, before anything is gone.
down: .venv/ready ## remove the cluster and everything that it left (not here: UNPROTECT=1)
	@$(with_env) $(select) && $(unprotect) pulumi destroy --stack $(STACK) --yes && \
	  pulumi stack rm --stack $(STACK) --yes --preserve-config --remove-backups && \
	  $(python) -m airgap.setup forget $(STACK)

rotate-certs: ready ## new keys and certificates, all but the CAs', host by host
	@$(with_env) $(select) && \
	  flags="$$(pulumi stack export --stack $(STACK) | $(python) -m components.pki.rotate)" && \
	  pulumi up --stack $(STACK) --yes --skip-preview $$flags && \
	  $(python) -m airgap.setup summary $(STACK) --make "$(MAKEOVERRIDES)"

kubeconfig: .venv/ready ## print the admin kubeconfig
	@$(with_env) pulumi stack output kubeconfig --stack $(STACK) --show-secrets

env: .venv/ready ## shell exports for plain pulumi commands: eval "$$(make -s env)"
	@$(python) -m airgap.setup env
	$(if $(SIMULATED),@$(with_env) $(python) -m tests.clouds env $(STACK))

ready: .venv/ready ## get what this computer lacks: engine, plugins, Docker, images
	@$(simulated) $(python) -m airgap.setup prepare $(STACK) $(if $(SIMULATED),--mirror)

test: .venv/all ## lint, types, and every test: unit, golden, engine, then clusters end to end
	@$(MAKE) --no-print-directory check ready
	@$(with_env) $(python) -m pytest

test-long: .venv/all ## what takes too long for each change: each firewall rule, other topologies
	@$(MAKE) --no-print-directory ready
	@$(with_env) $(python) -m pytest -m long -s

# RUNS: how often each is run, in turn. RESULTS: a file for all figures and spans, as JSON.
RUNS ?= 3
RESULTS ?=

bench: .venv/ready ## our `up` and kubeadm on the same hosts, in turn: half an hour
	@$(python) -m airgap.setup prepare local --mirror
	@$(with_env) $(python) -m bench run --runs $(RUNS) $(if $(RESULTS),--json $(RESULTS))

compare: ready ## the official command and tls plugins and our stand-ins, on the same stack
	@$(with_env) $(python) -m bench.plugins

check: .venv/all ## lint, format and types
	@$(python) -m ruff check . && $(python) -m ruff format --check . && $(python) -m mypy

format: .venv/all
	@$(python) -m ruff check --fix . && $(python) -m ruff format .

# The virtual environment that the lock file describes, by uv, which pip brings when it is missing.
.venv/ready: uv.lock pyproject.toml
	@test -x $(uv) || { python3 -m venv .venv && $(python) -m pip install --quiet "uv==0.13.9"; }
	@UV_PROJECT_ENVIRONMENT=.venv $(uv) sync --quiet --frozen --inexact --compile-bytecode
	@touch $@

# With every cloud's SDK: the tests look at all of them.
.venv/all: .venv/ready
	@UV_PROJECT_ENVIRONMENT=.venv $(uv) sync --quiet --frozen --inexact --compile-bytecode --all-groups
	@touch $@
