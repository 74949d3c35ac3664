# SPDX-License-Identifier: Apache-2.0
lodestone_add_mpi_tests(vtk_pieces LABEL mpi PREFIX mpi RANKS 1 2 3 SOURCES test_vtk_pieces.cpp LINKS lodestone::io)
