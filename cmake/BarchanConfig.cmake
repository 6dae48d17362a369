# find_package(Barchan) gives the target Barchan::barchan. libbarchan.so brings all that it needs.
include("${CMAKE_CURRENT_LIST_DIR}/BarchanTargets.cmake")
