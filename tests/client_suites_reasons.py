"""Tests of clients' suites that fail on numlite for a reason; client_suites.py holds it against each."""

from __future__ import annotations

from typing import NamedTuple


class Reason(NamedTuple):
    """Why a test fails on numlite that LiteRT passes; `text` stands in its failure."""

    text: str
    why: str


_PROFILED = Reason(
    "numlite has none", "its C++ calibrator hooks into a tflite::Interpreter by the native handle"
)

_PROFILED_TESTS = {
    "calibrator_test.py::CalibrationInterpreterProfilerBasedTest": (
        "test_calibration_mode",
        "test_output_match_original_interpreter",
        "test_save_calibration_result",
    ),
    "calibrator_test.py::CalibrationModesComparisonTest": (
        "test_modes_results_match_with_calibration_interpreter_api_conv_mnist",
        "test_modes_results_match_with_calibration_interpreter_api_single_fc",
        "test_modes_results_match_with_calibration_interpreter_api_two_signatures",
        "test_modes_results_match_with_calibrator_api_conv_mnist",
        "test_modes_results_match_with_calibrator_api_single_fc",
        "test_modes_results_match_with_calibrator_api_two_signatures",
    ),
    "calibrator_test.py::CalibratorProfilerBasedTest": (
        "test_calibrate_reshape_with_empty_shape_success",
        "test_calibrate_single_fc_success",
        "test_calibrate_unsupported_ops_success",
        "test_calibrate_updates_num_samples_calibrated",
        "test_calibration_cache_is_empty_after_reset",
        "test_calibration_cache_is_empty_when_off",
        "test_calibration_cache_when_on",
        "test_preserve_metadata_on_save",
        "test_save_with_extra_metadata",
    ),
    "calibrator_test.py::CalibratorToyGemma2Test": ("test_toy_gemma2_calibration_success_profiler_based",),
    "quantizer_test.py::CalibrationModesParityTest": (
        "test_parity_between_calibration_modes0",
        "test_parity_between_calibration_modes1",
        "test_parity_between_calibration_modes2",
    ),
    "quantizer_test.py::QuantizerFullyConnectedTest": (
        "test_fully_connected_quantization_succeeds1",
        "test_fully_connected_quantization_update_signature_defs_succeeds1",
    ),
    "quantizer_test.py::QuantizerMultiSignatureModelTest": (
        "test_constant_buffer_shared_by_tensors_with_different_quantization_params_succeeds1",
        "test_quantization_with_insufficient_calibration1",
        "test_validate_quantize_after_calibration_succeeds1",
    ),
    "quantizer_test.py::QuantizerTest": (
        "test_calibrate_required_recipe_succeeds1",
        "test_calibrate_required_recipe_succeeds3",
        "test_quantize_calibration_needed_succeeds1",
        "test_quantize_calibration_needed_succeeds3",
        "test_reloaded_calibration_succeeds1",
        "test_reloaded_calibration_succeeds3",
        "test_two_pass_quantization_with_conv_and_fc_succeeds1",
    ),
    "quantizer_test.py::QuantizerToyGemma2Test": (
        "test_toy_gemma2_quantization_succeeds1",
        "test_toy_gemma2_update_signature_defs_succeeds1",
    ),
}

# By what a test's name ends in.
REASONS = {f"/{group}::{test}": _PROFILED for group, tests in _PROFILED_TESTS.items() for test in tests}
