#!/bin/sh
# Join the nodes HOST:PORT ... to a cluster, unless they are one: half of them masters, each with one replica.
# CLI is the client program; the images of Valkey have valkey-cli.
set -eu
cli=${CLI:-valkey-cli}

# Return one line of what a node tells of its cluster.
state() {
    "$cli" -h "${1%:*}" -p "${1##*:}" cluster info | tr -d '\r' | grep "^$2:"
}

if [ "$(state "$1" cluster_known_nodes)" = cluster_known_nodes:1 ]; then
    # shellcheck disable=SC2086
    "$cli" --cluster create "$@" --cluster-replicas "${REPLICAS:-1}" --cluster-yes
fi
until [ "$(state "$1" cluster_state)" = cluster_state:ok ]; do
    echo "waiting until the nodes agree"
    sleep 1
done
echo "the cluster is complete"
