"""TensorFlow's half of grappler_peer.py and grappler_properties.py, run by a Python that has TensorFlow.

numlite is not imported.

python benchmarks/grappler_child.py optimize IN.pb OUT.pb FETCH...     # file in, file out
python benchmarks/grappler_child.py LIST.json OUT.json                 # all requests of a list
"""

import json
import os
import sys
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2
from tensorflow.python.framework import load_library
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
    """Of each node's outputs, with the bodies of functions there: OpInfo.TensorProperties in hexadecimal."""
    found = item.Item(meta_graph(read(path), fetches)).GetOpProperties()
    return {name: [each.SerializeToString().hex() for each in told] for name, told in found.items()}


def probe(library, path, fetches):
    """What a plugin is told of the graph and each function: its log, and the graphs in hexadecimal."""
    with tempfile.TemporaryDirectory() as folder:
        log, saved = os.path.join(folder, "log"), os.path.join(folder, "saved")
        graph = read(path)
        bodies = [graph.node, *(function.node_def for function in graph.library.function)]
        names = [node.name for nodes in bodies for node in nodes]
        for function in graph.library.function:
            names += [each.name for each in function.signature.input_arg]
            names += [f"{each.name}_RetVal" for each in function.signature.output_arg]
        for node in (node for nodes in bodies for node in nodes):
            node.device = "/job:localhost/replica:0/task:0/device:CPU:0"
        os.environ.update(PROBE_LOG=log, PROBE_SAVE=saved, PROBE_NODES=",".join(dict.fromkeys(names)))
        # The probe opens its log once for each process.
        pid = os.fork()
        if not pid:
            load_library.load_pluggable_device_library(library)
            config = config_pb2.ConfigProto()
            options = config.graph_options.rewrite_options
            options.min_graph_nodes, options.meta_optimizer_iterations = -1, 1
            options.optimizers.append("none but the plugin")
            devices = cluster.Cluster(disable_detailed_stats=True)
            tf_optimizer.OptimizeGraph(config, meta_graph(graph, fetches), cluster=devices)
            os._exit(0)
        os.waitpid(pid, 0)
        with open(log) as text, open(saved, "rb") as graphs:
            return text.read(), graphs.read().hex()


def sizes(path, feeds_file):
    """Shapes of all results in a run, as far as they can be fetched."""
    found = {}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(read(path), name="")
        with (
            np.load(feeds_file, allow_pickle=True) as held,
            tf.compat.v1.Session(config=unoptimized()) as session,
        ):
            feeds = {name if ":" in name else f"{name}:0": held[name] for name in held.files}
            results = [each for op in graph.get_operations() for each in op.outputs]
            results = [
                each
                for each in results
                if graph.is_fetchable(each)
                and each.dtype not in (tf.resource, tf.variant)
                and not each.dtype._is_ref_dtype
            ]
            try:
                values = session.run(results, feeds)
            except tf.errors.OpError:  # some are behind a Switch that goes the other way
                values = [alone(session, each, feeds) for each in results]
    for each, value in zip(results, values, strict=True):
        if value is not None:
            found[each.name] = list(np.shape(value))
    return found


def alone(session, result, feeds):
    """The result's value, None where there is none."""
    try:
        return session.run(result, feeds)
    except tf.errors.OpError:
        return None


def unoptimized():
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


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
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(read(path), name="")
        with (
            np.load(feeds_file, allow_pickle=True) as held,
            tf.compat.v1.Session(config=unoptimized()) as session,
        ):
            full = [name if ":" in name else f"{name}:0" for name in fetches]
            feeds = {name if ":" in name else f"{name}:0": held[name] for name in held.files}
            values = session.run([graph.get_tensor_by_name(name) for name in full], feeds)
    np.savez(outputs_file, **{f"o{i}": np.asarray(value) for i, value in enumerate(values)})
    return "ran"


def answer(request):
    kinds = {
        "properties": properties,
        "milliseconds": milliseconds,
        "run": run,
        "probe": probe,
        "sizes": sizes,
    }
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
