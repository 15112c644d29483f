"""TensorFlow's half of grappler_peer.py, run by a Python that has TensorFlow. numlite is not imported.

python benchmarks/grappler_child.py optimize IN.pb OUT.pb FETCH...     # file in, file out
python benchmarks/grappler_child.py LIST.json OUT.json                 # all requests of a list
"""

import json
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2
from tensorflow.python.grappler import cluster, item, tf_optimizer


def read(path: str):
    graph = tf.compat.v1.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    return graph


def meta_graph(graph, fetches):
    made = meta_graph_pb2.MetaGraphDef()
    made.graph_def.CopyFrom(graph)
    held = meta_graph_pb2.CollectionDef()
    held.node_list.value.extend(fetches)
    made.collection_def["train_op"].CopyFrom(held)
    return made


def optimized(graph, fetches, devices=None):
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.min_graph_nodes = -1
    return tf_optimizer.OptimizeGraph(config, meta_graph(graph, fetches), cluster=devices)


def properties(path, fetches):
    """Of each node's outputs: [dtype, shape or None]."""
    found = item.Item(meta_graph(read(path), fetches)).GetOpProperties()
    return {
        name: [
            [each.dtype, None if each.shape.unknown_rank else [dim.size for dim in each.shape.dim]]
            for each in outputs
        ]
        for name, outputs in found.items()
    }


def milliseconds(path, fetches, rounds):
    """The least CPU time of optimizing the graph, all threads of this process."""
    graph, devices, best = read(path), cluster.Cluster(disable_detailed_stats=True), float("inf")
    for _ in range(rounds):
        start = time.process_time_ns()
        optimized(graph, fetches, devices)
        best = min(best, (time.process_time_ns() - start) / 1e6)
    return best


def run(path, fetches, feeds_file, outputs_file):
    """Import the graph, run it without TensorFlow's own optimizers, and write the outputs."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(read(path), name="")
        with np.load(feeds_file, allow_pickle=True) as held, tf.compat.v1.Session(config=config) as session:
            full = [name if ":" in name else f"{name}:0" for name in fetches]
            feeds = {name if ":" in name else f"{name}:0": held[name] for name in held.files}
            values = session.run([graph.get_tensor_by_name(name) for name in full], feeds)
    np.savez(outputs_file, **{f"o{i}": np.asarray(value) for i, value in enumerate(values)})
    return "ran"


def answer(request):
    kinds = {"properties": properties, "milliseconds": milliseconds, "run": run}
    kind, *arguments = request
    try:
        return kinds[kind](*arguments)
    except Exception as error:  # the other half shows it
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}


def main() -> None:
    if sys.argv[1] == "optimize":
        _, _, source, target, *fetches = sys.argv
        with open(target, "wb") as file:
            file.write(optimized(read(source), fetches).SerializeToString())
        return
    with open(sys.argv[1]) as file:
        requests = json.load(file)
    with open(sys.argv[2], "w") as file:
        json.dump([answer(request) for request in requests], file)


if __name__ == "__main__":
    main()
