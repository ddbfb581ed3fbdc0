! A pair of loops of the same work, one with three times the iterations, as code_shapes.c has them. Their jumps back
! have the line of the last statement within.
program main
  real(8) :: numbers(3072)
  integer :: k
  numbers = 0
  do k = 1, 200000
    call vectorized(numbers, 1024)
  end do
  if (numbers(1) == 12345) print *, numbers
contains
  subroutine vectorized(a, count)
    integer, intent(in) :: count
    real(8), intent(inout) :: a(:)
    integer :: i
    do i = 1, count
      a(i) = a(i) * 0.5d0 + 1 ! // vectorized one
    end do
    do i = 1, 3 * count
      a(i) = a(i) * 0.5d0 + 2 ! // vectorized three
    end do
  end subroutine
end program
