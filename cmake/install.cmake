# What `make install` puts where, below the prefix:
#
#     bin/barchan   lib/libbarchan.so   include/barchan/   lib/cmake/Barchan/
#     share/barchan/   scenes, validation cases, the page of the view, pictures of the gallery
#     lib/python3.x/dist-packages/barchan/   (python/CMakeLists.txt)
#
# The program and the library find share/barchan by their own place: a prefix can be moved.
include(CMakePackageConfigHelpers)
set(config_dir lib/cmake/Barchan)
install(TARGETS barchan RUNTIME DESTINATION bin)
install(TARGETS barchan_library EXPORT BarchanTargets LIBRARY DESTINATION lib)
install(DIRECTORY include/barchan DESTINATION include)
install(EXPORT BarchanTargets NAMESPACE Barchan:: DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/BarchanConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/BarchanConfig.cmake ${CMAKE_BINARY_DIR}/BarchanConfigVersion.cmake
        DESTINATION ${config_dir})

set(share share/barchan)
install(DIRECTORY scenes validation DESTINATION ${share})
install(DIRECTORY assets DESTINATION ${share} OPTIONAL)
install(FILES web/dist/index.html DESTINATION ${share}/web/dist OPTIONAL)
install(DIRECTORY docs/gallery DESTINATION ${share}/docs FILES_MATCHING PATTERN "*.jpg")
