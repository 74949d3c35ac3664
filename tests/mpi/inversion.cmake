# SPDX-License-Identifier: Apache-2.0
lodestone_add_mpi_tests(gauss_newton LABEL mpi PREFIX mpi RANKS 1 2 3 SOURCES test_gauss_newton_mpi.cpp LINKS lodestone::inversion)
lodestone_add_mpi_tests(matrix_free LABEL mpi PREFIX mpi RANKS 1 2 3 SOURCES test_matrix_free_mpi.cpp LINKS lodestone::inversion_mt)
lodestone_add_mpi_tests(posterior LABEL mpi PREFIX mpi RANKS 1 2 3 SOURCES test_posterior_mpi.cpp LINKS lodestone::inversion)
lodestone_add_mpi_tests(alternating LABEL mpi PREFIX mpi RANKS 1 2 3 SOURCES test_alternating_mpi.cpp LINKS lodestone::inversion)
