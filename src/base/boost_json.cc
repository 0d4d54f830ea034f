// The one place that carries the code of Boost.JSON: everywhere else it is used as headers only, and no shared library
// of it is needed.
#include <boost/json/src.hpp>
