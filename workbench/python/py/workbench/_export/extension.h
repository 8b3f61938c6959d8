// A replacement for torch's own <torch/extension.h>: that includes pybind11, which cannot use Python's limited API; operators need neither.
#pragma once

#include <torch/all.h>
#include <torch/library.h>
