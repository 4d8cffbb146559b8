#!/usr/bin/env python3
"""Failover by Patroni and etcd: ha.py POSTGRES_TEST [RUNS].

Starts etcd and three servers under Patroni in a temporary folder, with synchronous replication. The test program writes with
eight processes; the primary and its Patroni are killed; Patroni promotes the standby that has everything. Nothing that was
acknowledged may be lost (tests/postgres/failover_test.cpp, Patroni). `ha.py --kill FOLDER` is what the test calls."""
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

CONFIG = """
scope: bough
name: node{n}
restapi: {{listen: '127.0.0.1:{rest}', connect_address: '127.0.0.1:{rest}'}}
etcd3: {{host: '127.0.0.1:{etcd}'}}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      parameters: {{wal_log_hints: 'on', wal_keep_size: 256MB, max_connections: 100}}
  initdb: [no-sync, {{encoding: UTF8}}, {{locale: C}}, {{auth-local: trust}}, {{auth-host: trust}}]
postgresql:
  listen: '127.0.0.1:{port}'
  connect_address: '127.0.0.1:{port}'
  data_dir: {folder}/data{n}
  bin_dir: {programs}
  pgpass: {folder}/pgpass{n}
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
  parameters: {{unix_socket_directories: '{folder}'}}
  authentication:
    superuser: {{username: postgres}}
    replication: {{username: replicator}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cluster(state):
    """The members as Patroni sees them; empty while nobody answers."""
    for node in state["nodes"]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{node['rest']}/cluster", timeout=2) as answer:
                return json.load(answer)["members"]
        except OSError:
            continue
    return []


def roles(state):
    return sorted(member["role"] for member in cluster(state) if member.get("state") in ("running", "streaming"))


def wait_for(what, condition, seconds=180):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"ha: {what} did not happen in {seconds} seconds")
        time.sleep(0.2)


def children(process):
    found = [process]
    for parent in found:
        listed = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True)
        found += [int(word) for word in listed.stdout.split()]
    return found


def kill_all(process):
    for each in children(process):
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_leader(folder):
    state = json.loads(pathlib.Path(folder, "state").read_text())
    leader = next(member["name"] for member in cluster(state) if member["role"] == "leader")
    data = f"{folder}/data{leader[-1]}"
    server = int(pathlib.Path(data, "postmaster.pid").read_text().split()[0])
    # Kill Patroni first, because it would restart the server.
    kill_all(next(node["process"] for node in state["nodes"] if node["name"] == leader))
    kill_all(server)


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.owner = {}
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            self.owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
            os.chown(folder, account.pw_uid, account.pw_gid)
        os.chmod(folder, 0o755)
        etcd, peer = free_port(), free_port()
        self.processes = [self.start("etcd", ["etcd", "--data-dir", f"{folder}/etcd", "--listen-client-urls", f"http://127.0.0.1:{etcd}",
                                              "--advertise-client-urls", f"http://127.0.0.1:{etcd}", "--listen-peer-urls",
                                              f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                                              "--initial-cluster", f"default=http://127.0.0.1:{peer}"])]
        programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")).parent
        nodes = []
        for n in range(3):
            node = {"name": f"node{n}", "port": free_port(), "rest": free_port()}
            pathlib.Path(folder, f"node{n}.yml").write_text(CONFIG.format(n=n, etcd=etcd, folder=folder, programs=programs, **node))
            self.processes.append(self.start(f"node{n}", ["patroni", f"{folder}/node{n}.yml"]))
            node["process"] = self.processes[-1].pid
            nodes.append(node)
        self.state = {"nodes": nodes}
        pathlib.Path(folder, "state").write_text(json.dumps(self.state))
        ports = ",".join(f"127.0.0.1:{node['port']}" for node in nodes)
        self.url = f"postgresql://postgres@{ports}/postgres?target_session_attrs=read-write&connect_timeout=5&schema=failover"

    def start(self, name, command):
        with open(f"{self.folder}/{name}.log", "w") as log:
            return subprocess.Popen(command, cwd="/", stdout=log, stderr=log, env={**os.environ, "ETCD_UNSUPPORTED_ARCH": os.uname().machine},
                                    **self.owner)

    def stop(self):
        for process in reversed(self.processes):
            kill_all(process.pid)
            process.wait()
        for number in range(3):
            pid = pathlib.Path(self.folder, f"data{number}/postmaster.pid")
            if pid.exists():
                kill_all(int(pid.read_text().split()[0]))


def main():
    if sys.argv[1] == "--kill":
        return kill_leader(sys.argv[2])
    for program in ("patroni", "etcd"):
        if not shutil.which(program):
            print(f"{program} is not installed")
            sys.exit(77)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for run in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            servers = Cluster(folder)
            try:
                wait_for("a primary with a synchronous standby", lambda: roles(servers.state) == ["leader", "replica", "sync_standby"])
                environment = {**os.environ, "BOUGH_HA_URL": servers.url, "BOUGH_HA_KILL": f"{sys.executable} {__file__} --kill {folder}"}
                began = time.monotonic()
                done = subprocess.run([program, "--gtest_filter=Patroni.*"], env=environment)
                if done.returncode:
                    sys.exit(f"ha: run {run + 1} failed")
                print(f"ha: run {run + 1}: nothing was lost, {time.monotonic() - began:.0f} seconds")
            finally:
                servers.stop()


main()
