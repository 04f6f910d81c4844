# Two commands matter: `make up` and `make test`. The rest are thin over plain pulumi commands.
STACK ?= local

python := .venv/bin/python
uv := .venv/bin/uv
# In front of a pulumi command: the PATH, backend and passphrase that `make ready` chose.
# Without the agent, which the official command plugin would ask, and fail where it is gone.
with_env := exports="$$($(python) -m airgap.setup env)" && eval "$$exports" && unset SSH_AUTH_SOCK &&
select := pulumi stack select --create --non-interactive $(STACK) >/dev/null

.PHONY: up preview down kubeconfig env ready test check format

up: ready ## turn this computer (or STACK) into a cluster
	@$(with_env) $(select) && pulumi up --stack $(STACK) --yes --skip-preview && \
	  $(python) -m airgap.setup summary $(STACK)

preview: ready ## what `up` would change, line by line
	@$(with_env) $(select) && pulumi preview --diff --stack $(STACK)

down: .venv/ready ## remove the cluster and everything that it left
	@$(with_env) $(select) && pulumi destroy --stack $(STACK) --yes --skip-preview && \
	  pulumi stack rm --stack $(STACK) --yes --preserve-config --remove-backups && \
	  $(python) -m airgap.setup forget $(STACK)

kubeconfig: .venv/ready ## print the admin kubeconfig
	@$(with_env) pulumi stack output kubeconfig --stack $(STACK) --show-secrets

env: .venv/ready ## shell exports for plain pulumi commands: eval "$$(make -s env)"
	@$(python) -m airgap.setup env

ready: .venv/ready ## get what this computer lacks: engine, plugins, Docker, images
	@$(python) -m airgap.setup prepare $(STACK)

test: .venv/ready ## lint, types, and every test: unit, golden, engine, one cluster end to end
	@$(MAKE) --no-print-directory check ready
	@$(with_env) $(python) -m pytest

check: .venv/ready ## lint, format and types
	@$(python) -m ruff check . && $(python) -m ruff format --check . && $(python) -m mypy

format: .venv/ready
	@$(python) -m ruff check --fix . && $(python) -m ruff format .

# The virtual environment that the lock file describes, by uv, which pip brings when it is missing.
.venv/ready: uv.lock pyproject.toml
	@test -x $(uv) || { python3 -m venv .venv && $(python) -m pip install --quiet "uv==0.13.9"; }
	@UV_PROJECT_ENVIRONMENT=.venv $(uv) sync --quiet --frozen --inexact --all-groups
	@touch $@
