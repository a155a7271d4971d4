# Two commands to begin with: `make demo` and `make test`. The rest is in `make help`.
PYTHON ?= $(shell scripts/choose-python)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READINGS ?=
TRACK ?=
VIDEO ?=
LEDGER ?=
ENGINE ?= solo
ADMIN_KEY ?=
OPTIONS ?=
KEY ?=
NODES ?= 1
SCENARIOS ?=
REST_PORT ?= 8080
MQTT_PORT ?= 1883
LEDGER_PORT ?= 8008

.DEFAULT_GOAL := help
.PHONY: help release docs audit demo test programs peers check unit vectors soak field sites measure bench bench-ledger bench-storage bench-device bench-audit bench-index rig cassandra up trip down proto pages lock clean

help: ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# `make demo` promises its last line even when it cannot begin.
SETUP_FAILED := $(if $(filter demo,$(MAKECMDGOALS)),|| { echo "demo: failed setup"; exit 1; })

$(READY): requirements.lock pyproject.toml scripts/setup $(wildcard scripts/hatch_build.py storage/hashing/_native.c)
	@scripts/setup "$(PYTHON)" "$(VENV)" $(SETUP_FAILED)

# Tests start hundreds of processes; without compiled modules on the disk, each compiles all of them again.
unexport PYTHONDONTWRITEBYTECODE

# CometBFT, for a network of validators; scripts/cometbft puts it there.
# Likewise anvil, an EVM, from scripts/contract.
export PATH := $(CURDIR)/build/cometbft/bin:$(CURDIR)/build/contract/bin:$(PATH)

# Whichever Java and Maven are there serve; else Debian's.
JAVA := { command -v java && command -v mvn; } >/dev/null || scripts/packages openjdk-17-jre-headless maven

# Tests wait for servers and disks half of their time: four processes keep two cores busy. Files that
# wait longest come first, so that all four end at the same time.
LONG_FIRST := tests/integration tests/e2e tests/property tests/unit

# What wayseal-bench measures with.
BENCH_TOOLS := fio sysbench openssl iperf3 iputils-ping

demo: $(READY) ## the main job; with READINGS=csv TRACK=gpx VIDEO=file OPTIONS="--map QUANTITY=COLUMN" on real files; LEDGER=url ADMIN_KEY=file on a ledger of yours; ENGINE=cometbft with four validators
	@[ "$(ENGINE)" != cometbft ] || scripts/cometbft $(SETUP_FAILED)
	@$(BIN)/python -m demo --readings "$(READINGS)" --track "$(TRACK)" --video "$(VIDEO)" \
	  --engine "$(ENGINE)" --ledger "$(LEDGER)" --admin-key "$(ADMIN_KEY)" $(OPTIONS)

test: ## all checks and all tests
	@echo "test: programs, libraries and checks first, then the tests"
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target programs check peers
	@$(BIN)/pytest -q -rs -n 4 --dist loadfile --no-loadscope-reorder $(LONG_FIRST)

programs: # of the system; they come while Python's libraries are installed
	@scripts/packages mosquitto jq sqlite3 curl openssl iproute2 softhsm2 iw dbus gpsd gpsd-clients gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly python3-gi nvme-cli smartmontools $(BENCH_TOOLS) chromium-headless-shell prometheus prometheus-alertmanager
	@$(JAVA)
	@scripts/cometbft || echo "cometbft: tests of a network of validators will be skipped"
	@scripts/contract anvil || echo "anvil: tests of the benchmark with an EVM will be skipped"

peers: $(READY) programs # what else the tests talk to
	@$(BIN)/python -c "from storage.bench.servers.cassandra.artifacts import installed; installed()"
	@PYTHONPATH=tests $(BIN)/python -c "from support.tusclients.clients import install; install()"

unit: $(READY) ## the tests that need no other process
	@$(BIN)/pytest -q -m "not integration and not long" tests/unit tests/property

vectors: $(READY) ## rules and verdicts under each supported Python on this machine; names those that are missing
	@$(BIN)/pytest -v -rs -m integration tests/integration/test_interpreters.py

soak: $(READY) ## the kill and fuzz tests, long; what `make test` leaves to it; and the rig
	@scripts/packages mosquitto
	@$(JAVA)
	@WAYSEAL_KILLS=200 WAYSEAL_FUZZ_CASES=2000 $(BIN)/pytest -q --timeout 7200 \
	  tests/integration/test_node_kills.py tests/integration/test_node_fuzz.py \
	  tests/integration/test_node_openapi.py
	@$(BIN)/pytest -q --hypothesis-profile soak --timeout 7200 tests/property tests/unit/test_sawtooth_counts.py \
	  tests/unit/test_storage_lent.py
	@PYTHONPATH=tests $(BIN)/python -m support.evidence.play --seconds $(or $(WORLDS_SECONDS),1200)
	@PYTHONPATH=tests $(BIN)/python -m support.life.walk --days 200 --seed $(or $(SEED),$(shell date +%j))
	@scripts/cometbft
	@PYTHONPATH=tests $(BIN)/python -m support.ledgers.faults --seconds $(or $(FAULTS_SECONDS),600) --seed $(or $(SEED),$(shell date +%j))
	@WAYSEAL_KILLS=100 $(BIN)/pytest -q tests/e2e/test_kills.py --timeout 7200
	@WAYSEAL_KILLS=200 $(BIN)/pytest -q -m long tests/e2e/test_kills_cassandra.py --timeout 14400
	@$(BIN)/pytest -q -m long $(LONG_FIRST) --ignore tests/e2e/test_kills_cassandra.py
	@scripts/packages binfmt-support curl docker.io iproute2 mmdebstrap nftables openssh-client podman qemu-user-static runc
	@WAYSEAL_FIELD=1 $(BIN)/pytest -q -rs -m "field and long" --timeout 7200 tests/field
	@$(MAKE) --no-print-directory rig

field: $(READY) ## what an operator installs, installed for real: containers, Ansible, several sites
	@scripts/packages certbot curl docker.io iproute2 jq mmdebstrap nftables openssh-client podman runc
	@$(JAVA)
	@scripts/cometbft
	@scripts/pebble
	@WAYSEAL_FIELD=1 $(BIN)/pytest -q -rs -m "field and not long" --timeout 2400 --durations 20 \
	  -n 2 --dist loadfile --no-loadscope-reorder tests/field

sites: $(READY) ## three gateways, three Cassandra nodes, one ledger: a truck between them, and what dies there
	@scripts/packages iproute2
	@$(JAVA)
	@$(BIN)/pytest -v -rs -m field --timeout 1200 tests/field/test_sites.py tests/field/test_sites_cut_off.py

rig: $(READY) ## drives that fail, on a real kernel inside QEMU; SCENARIOS="some of them"
	@PYTHONPATH=tests nice -n 5 $(BIN)/python -m rig.main $(SCENARIOS)

check: $(READY) ## lint, format, types, import rules; the pages as built from web/
	@$(BIN)/ruff format --check -q .
	@$(BIN)/ruff check -q .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@scripts/pages check
	@scripts/verifier check
	@scripts/contract check

measure: $(READY) ## readings end to end, for docs/performance.md
	@$(BIN)/python -m demo.measure

bench: $(READY) ## a quick look at all that wayseal-bench measures, on this disk; OPTIONS="--target NAME=DIR"
	@scripts/packages $(BENCH_TOOLS)
	@$(JAVA)
	@$(BIN)/wayseal-bench all --quick --out build/bench/runs $(OPTIONS)

bench-ledger: $(READY) ## the ledger's figures beside their targets; OPTIONS=--quick is a look
	@scripts/cometbft || echo 'cometbft: "network" cannot be measured; OPTIONS="--only NAME" chooses the others'
	@$(BIN)/python -m storage.bench.goals.wayseal_bench_ledger $(OPTIONS)

bench-storage: $(READY) ## storage beside the limits of this machine; OPTIONS=--quick is a look, --curve is long
	@$(JAVA)
	@$(BIN)/python -m storage.bench.goals.wayseal_bench_storage $(OPTIONS)

bench-device: $(READY) ## what a truck's agent takes from a Pi, and how it offloads; OPTIONS=--quick is a look
	@scripts/packages strace
	@$(BIN)/python -m storage.bench.goals.wayseal_bench_device $(OPTIONS)

bench-audit: $(READY) ## how fast auditors are answered, from 10,000 to 1,000,000 readings; OPTIONS="--readings 10000" is a look
	@PYTHONPATH=tests $(BIN)/python -m support.bench.audits $(OPTIONS)

bench-index: $(READY) ## how an index of a gateway grows; OPTIONS="--kind alone --readings 10000000" is long
	@$(BIN)/python -m demo.bench_index $(OPTIONS)

release: $(READY) ## wheels, Debian packages, SBOMs, checksums of the newest commit into dist; KEY=file signs; OPTIONS="--arch amd64"
	@PYTHON="$(BIN)/python" scripts/tools release
	@$(BIN)/python -m release $(if $(KEY),--key "$(KEY)") $(OPTIONS)

docs: ## the pages as a site with search, for a browser without a network, into build/site
	@PYTHON="$(PYTHON)" scripts/tools docs
	@scripts/site build/site

audit: $(READY) ## known vulnerabilities of what each role installs; fails if the advisory service does not answer
	@PYTHON="$(BIN)/python" scripts/tools audit
	@scripts/audit

cassandra: $(READY) ## start a real Cassandra at port 9042, until Ctrl-C; NODES=3 is three sites
	@$(JAVA)
	@$(BIN)/python -m storage.bench.servers.cassandra.wayseal_cassandra build/cassandra/dev$(NODES) --nodes $(NODES) $(OPTIONS)

up: $(READY) ## start a gateway; its addresses and tokens are in build/up.json; REST_PORT, MQTT_PORT, LEDGER_PORT choose ports; OPTIONS=--of-demo serves what `make demo` left
	@$(BIN)/python -m demo.up --rest $(REST_PORT) --mqtt $(MQTT_PORT) --ledger $(LEDGER_PORT) $(OPTIONS)

trip: $(READY) ## drive a simulated trip and offload it into that gateway
	@$(BIN)/python -m demo.trip

down: $(READY) ## stop it; its data stays in build/up
	@$(BIN)/python -m demo.down

proto: $(READY) ## generate contracts/proto/*_pb2.py again
	@$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. contracts/proto/*.proto

pages: ## build the pages at / from web/ into gateway/web; needs Node.js 20.19 or newer
	@scripts/pages build

COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 \
  --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet

lock: $(READY) ## choose dependency versions again
	@$(COMPILE) pyproject.toml --all-extras --group dev --upgrade -o requirements.lock
	@$(COMPILE) --group build -c requirements.lock -o requirements/build.lock
	@grep -v '^#' requirements/roles | while read -r role extras _; do \
	  $(COMPILE) pyproject.toml $$(echo "$$extras" | sed 's/^-$$//; s/[^,]\{1,\}/--extra &/g; s/,/ /g') \
	    -c requirements.lock -o "requirements/$$role.lock" || exit 1; \
	done

clean: ## remove what was built, not what was learned
	@rm -rf build $(VENV)
