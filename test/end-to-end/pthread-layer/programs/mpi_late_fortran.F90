! Ranks of MPI of which one is late, as in mpi_late.c, by Fortran's bindings: -DMODULE=mpi or mpi_f08. Rank 1 has three
! times as much to do before each message and each collective. Rank 0 prints how long it waited, in ns.
program late
  use MODULE
  implicit none
  integer, parameter :: rounds = 30, one = 400000
  integer :: rank, round, k, error
  double precision :: total, got(2), received, requested, gathered, began
#ifdef OBJECTS
  type(MPI_Comm) :: both
  type(MPI_Request) :: requests(2)
#else
  integer :: both, requests(2)
#endif
  total = 0; received = 0; requested = 0; gathered = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, both, error)
  do round = 1, rounds
    call work(merge(12, 4, rank == 1))
    began = MPI_Wtime()
    if (rank == 0) call MPI_Recv(got(1), 1, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) ! late sender
    if (rank == 1) call MPI_Send(total, 1, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, error)
    received = received + MPI_Wtime() - began
    call work(merge(12, 4, rank == 1))
    began = MPI_Wtime()
    do k = 1, 2
      if (rank == 0) call MPI_Irecv(got(k), 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, both, requests(k), error)
      if (rank == 1) call MPI_Isend(total, 1, MPI_DOUBLE_PRECISION, 0, k, both, requests(k), error)
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error) ! late request
    requested = requested + MPI_Wtime() - began
    call work(merge(12, 4, rank == 1))
    began = MPI_Wtime()
    call MPI_Allreduce(total, got(2), 1, MPI_DOUBLE_PRECISION, MPI_SUM, both, error) ! late rank
    gathered = gathered + MPI_Wtime() - began
  end do
  if (rank == 0) print '(3(a, i0))', 'received ', nint(received * 1d9, 8), ' requested ', nint(requested * 1d9, 8), &
    ' gathered ', nint(gathered * 1d9, 8)
  call MPI_Comm_free(both, error)
  call MPI_Finalize(error)
contains
  subroutine work(units)
    integer, intent(in) :: units
    integer :: step
    do step = 1, units * one
      total = total * 1.0000001d0 + 1d-9
    end do
  end subroutine
end program
