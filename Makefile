# `make run` serves the app, `make test` proves that all of it works. Both set up what they need.
PORT ?= 8501
ADDRESS ?= 127.0.0.1
PYTHON_IN = .venv/bin/python

.PHONY: run test check format setup bench screenshots clean

run: setup
	exec $(PYTHON_IN) -m streamlit run app.py --server.port $(PORT) --server.address $(ADDRESS)

test:
	scripts/test.sh

check:
	scripts/setup_dev.sh
	$(PYTHON_IN) -m ruff check .
	$(PYTHON_IN) -m ruff format --check .
	$(PYTHON_IN) -m pyright

format:
	scripts/setup_dev.sh
	$(PYTHON_IN) -m ruff check --fix .
	$(PYTHON_IN) -m ruff format .

setup:
	@scripts/setup.sh

bench:
	scripts/setup_bench.sh
	$(PYTHON_IN) -m tests.benchmarks.capture_cost
	$(PYTHON_IN) -m tests.benchmarks.control_latency
	$(PYTHON_IN) -m tests.benchmarks.explorer_speed
	$(PYTHON_IN) -m tests.benchmarks.kernel_cost
	$(PYTHON_IN) -m tests.benchmarks.ranking_cost
	$(PYTHON_IN) -m tests.benchmarks.sweep_cost

screenshots:
	scripts/setup_dev.sh
	$(PYTHON_IN) -m scripts.screenshots

clean:
	rm -rf .venv *.egg-info .pytest_cache .ruff_cache .hypothesis screenshots build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
