"""Settings of the converter's objects: one that is misspelt, or not built, is an error when it is set."""

from __future__ import annotations

from difflib import get_close_matches
from inspect import get_annotations

from ..lite.errors import UnsupportedError

_QUANTIZATION = (
    "this way to quantize is not built: leave it out; what is built is optimizations, "
    "representative_dataset, target_spec, and numlite quantize"
)
_ONE_WAY = "numlite's converter has one way to convert, without this setting: leave it out"

# Attributes of TensorFlow's converter and target spec that this one has not.
_QUANTIZES = """
    default_ranges_stats post_training_quantize quantize_to_float16
    experimental_new_quantizer experimental_new_dynamic_range_quantizer
    experimental_stablehlo_quantizer_config experimental_use_stablehlo_quantizer
    _experimental_supported_accumulation_type _experimental_low_bit_qat
    _experimental_qdq_conversion_mode _experimental_quantization_options _experimental_reduce_type_precision
    _experimental_strict_qdq _experimental_tf_quantization_mode
    """
_OTHERS = """
    experimental_new_converter experimental_enable_resource_variables experimental_lower_to_saved_model
    experimental_supported_backends exclude_conversion_metadata legalize_custom_tensor_list_ops
    model_origin_framework saved_model_dir serialize_debug_metadata unfold_batchmatmul
    canonicalizing_inf_as_min_max_float elide_elementsattrs_if_larger enable_timing ir_dump_dir
    ir_dump_func_regex ir_dump_pass_regex print_ir_after print_ir_before print_ir_module_scope
    conversion_summary_dir dump_graphviz_dir dump_graphviz_video drop_control_dependency
    reorder_across_fake_quant change_concat_input_ranges output_format
    _experimental_allow_all_select_tf_ops _experimental_default_to_single_batch_in_tensor_list_ops
    _experimental_disable_fuse_mul_and_fc _experimental_enable_composite_direct_lowering
    _experimental_enable_dynamic_update_slice _experimental_guarantee_all_funcs_one_use
    _experimental_lower_tensor_list_ops _experimental_preserve_assert_op _experimental_sparsify_model
    _experimental_unfold_large_splat_constant _experimental_unsafe_fuse_dynamic_shaped_broadcast
    _experimental_use_buffer_offset _experimental_custom_op_registerers
    """


class KnownSettings:
    """A class whose annotated names, and those of its subclasses, are all that can be set.

    Others of TensorFlow's converter are an UnsupportedError that says what helps, any other name is an
    AttributeError that names the nearest.
    """

    def __setattr__(self, name: str, value: object) -> None:
        known = {name for base in type(self).__mro__ for name in get_annotations(base)}
        if name not in known:
            raise _refusal(type(self).__name__, name, known)
        super().__setattr__(name, value)


def _refusal(kind: str, name: str, known: set[str]) -> Exception:
    quantizes = _QUANTIZES.split()
    if name in quantizes:
        return UnsupportedError(f"{kind}.{name}: {_QUANTIZATION}")
    if name in _OTHERS.split():
        return UnsupportedError(f"{kind}.{name}: {_ONE_WAY}")
    near = get_close_matches(name, [*known, *quantizes], 1)
    meant = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(known))}"
    return AttributeError(f"{kind} has no setting {name!r}: {meant}")
