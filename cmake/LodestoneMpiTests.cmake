# SPDX-License-Identifier: Apache-2.0
# lodestone_own_mpi_folder(<test>…): call last, the properties ENVIRONMENT of the tests get longer.
# Open MPI keeps its session files in one folder per user and host, which the last program to end removes, and programs started without mpirun share a folder in
# there as well: of two tests at once, one may remove what the other is about to use. So each test that starts MPI has a folder of its own, made when it is needed.
function(lodestone_own_mpi_folder)
  foreach(test IN LISTS ARGN)
    get_property(number GLOBAL PROPERTY LODESTONE_N_MPI_FOLDERS)
    math(EXPR number "0${number} + 1")
    set_property(GLOBAL PROPERTY LODESTONE_N_MPI_FOLDERS ${number})
    set(folder "${PROJECT_BINARY_DIR}/mpi/${number}")  # short: sockets' names may be in there
    set_property(TEST "${test}" APPEND PROPERTY ENVIRONMENT "OMPI_MCA_orte_tmpdir_base=${folder}" "PRTE_MCA_prte_tmpdir_base=${folder}")
  endforeach()
endfunction()
