"""AWS Neuron's custom C++ operators: `from workbench.neuron import custom_op` in place of `torch_neuronx.xla_impl`."""

from . import custom_op

__all__ = ["custom_op"]
