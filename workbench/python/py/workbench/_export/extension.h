// In place of torch's own <torch/extension.h>, which brings pybind11, and that has no limited API of Python's: operators need neither.
#pragma once

#include <torch/all.h>
#include <torch/library.h>
