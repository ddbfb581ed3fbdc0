/* Fortran's names of MPI's procedures, and the names of the profiling interface that Fortran's bindings call.
 *
 * A Fortran procedure of MPI is a binding: it converts handles, and calls the C procedure, by the name MPI_... (MPICH)
 * or PMPI_... (Open MPI). What happens is logged in that C procedure, but its caller is then the binding, not the
 * program. So each entry here writes down where the program called, and jumps to the binding, with the arguments as
 * they are, whatever they may be; no frame of the layer is on the stack. The C procedure takes the place from there
 * (qzm_site). Entries named PMPI_... go to the layer's procedure only within such a call: who calls the profiling
 * interface from C is not logged.
 *
 * Compilers of today append one underscore; mpi_f08 of both implementations has the endings _f08_ and _f08ts_.
 * No Fortran argument is passed in a floating-point register.
 */
#define REACH 65536 /* bytes of stack that a binding may use; also in fortran.c */

#if defined(__x86_64__)
.macro write_down
	movq	qzm_fortran@gottpoff(%rip), %r11
	movq	(%rsp), %rax
	movq	%rsp, %fs:(%r11)
	movq	%rax, %fs:8(%r11)
.endm
.macro go_to entry
	leaq	\entry(%rip), %r11
	jmp	*(%r11)
.endm
.macro within_binding_go_to procedure
	movq	qzm_fortran@gottpoff(%rip), %r11
	movq	%fs:(%r11), %rax
	subq	%rsp, %rax
	cmpq	$REACH, %rax
	jb	\procedure@PLT
.endm
#define LANDING endbr64
#elif defined(__aarch64__)
.macro last_call /* x16: address of qzm_fortran */
	adrp	x16, :gottprel:qzm_fortran
	ldr	x16, [x16, #:gottprel_lo12:qzm_fortran]
	mrs	x17, tpidr_el0
	add	x16, x16, x17
.endm
.macro write_down
	last_call
	mov	x17, sp
	stp	x17, x30, [x16]
.endm
.macro go_to entry
	adrp	x16, \entry
	add	x16, x16, :lo12:\entry
	ldr	x17, [x16]
	br	x17
.endm
.macro within_binding_go_to procedure
	last_call
	ldr	x16, [x16]
	mov	x17, sp
	sub	x16, x16, x17
	lsr	x16, x16, #16 /* REACH */
	cbz	x16, 1f
	b	2f
1:	b	\procedure
2:
.endm
#define LANDING hint #34 /* bti c */
#endif

#if defined(__x86_64__) || defined(__aarch64__)

	.hidden	qzm_fortran
	.hidden	qzm_fortran_resolve

/* struct qzm_entry (fortran.c): where it goes on, at first to the resolver, and the name to look for. */
.macro entry_of symbol
	.section .rodata.str1.1,"aMS",%progbits,1
.Lname_\symbol:
	.asciz	"\symbol"
	.section .data.rel.local,"aw",%progbits
	.p2align 3
.Lentry_\symbol:
	.quad	.Lresolve
	.quad	.Lname_\symbol
	.text
.endm

.macro begin symbol
	.globl	\symbol
	.type	\symbol, %function
	.p2align 4
\symbol:
	.cfi_startproc
	LANDING
.endm
.macro finish symbol
	.cfi_endproc
	.size	\symbol, . - \symbol
.endm

.macro fortran symbol
	entry_of \symbol
	begin	\symbol
	write_down
	go_to	.Lentry_\symbol
	finish	\symbol
.endm

.macro procedure c, f
	fortran	mpi_\f\()_
	fortran	mpi_\f\()_f08_
	fortran	mpi_\f\()_f08ts_
	entry_of PMPI_\c
	begin	PMPI_\c
	within_binding_go_to MPI_\c
	go_to	.Lentry_PMPI_\c
	finish	PMPI_\c
.endm

.macro procedures c, f, more:vararg
	procedure \c, \f
	.ifnb	\more
	procedures \more
	.endif
.endm

/* Those that the layer defines for C. */
	.text
	procedures Send,send, Ssend,ssend, Bsend,bsend, Rsend,rsend, Recv,recv, Sendrecv,sendrecv
	procedures Sendrecv_replace,sendrecv_replace, Isend,isend, Issend,issend, Ibsend,ibsend, Irsend,irsend
	procedures Irecv,irecv, Send_init,send_init, Ssend_init,ssend_init, Bsend_init,bsend_init
	procedures Rsend_init,rsend_init, Recv_init,recv_init, Start,start, Startall,startall
	procedures Request_free,request_free, Wait,wait, Test,test, Waitall,waitall, Testall,testall
	procedures Waitany,waitany, Testany,testany, Waitsome,waitsome, Testsome,testsome
	procedures Barrier,barrier, Bcast,bcast, Gather,gather, Gatherv,gatherv, Scatter,scatter, Scatterv,scatterv
	procedures Allgather,allgather, Allgatherv,allgatherv, Alltoall,alltoall, Alltoallv,alltoallv
	procedures Alltoallw,alltoallw, Reduce,reduce, Allreduce,allreduce, Reduce_scatter,reduce_scatter
	procedures Reduce_scatter_block,reduce_scatter_block, Scan,scan, Exscan,exscan
	procedures Ibarrier,ibarrier, Ibcast,ibcast, Igather,igather, Igatherv,igatherv, Iscatter,iscatter
	procedures Iscatterv,iscatterv, Iallgather,iallgather, Iallgatherv,iallgatherv, Ialltoall,ialltoall
	procedures Ialltoallv,ialltoallv, Ialltoallw,ialltoallw, Ireduce,ireduce, Iallreduce,iallreduce
	procedures Ireduce_scatter,ireduce_scatter, Ireduce_scatter_block,ireduce_scatter_block
	procedures Iscan,iscan, Iexscan,iexscan
	procedures Comm_dup,comm_dup, Comm_dup_with_info,comm_dup_with_info, Comm_split,comm_split
	procedures Comm_split_type,comm_split_type, Comm_create,comm_create, Cart_create,cart_create
	procedures Cart_sub,cart_sub, Graph_create,graph_create, Dist_graph_create,dist_graph_create
	procedures Dist_graph_create_adjacent,dist_graph_create_adjacent, Comm_free,comm_free
	procedures Comm_disconnect,comm_disconnect

/* The first call of an entry: looks for what is behind the layer under its name, and goes there. */
	.type	.Lresolve, %function
	.p2align 4
.Lresolve:
	.cfi_startproc
	LANDING
#if defined(__x86_64__) /* r11: the entry */
	.irp	register, rdi, rsi, rdx, rcx, r8, r9, r10
	pushq	%\register
	.cfi_adjust_cfa_offset 8
	.endr
	movq	%r11, %rdi
	movq	56(%rsp), %rsi
	call	qzm_fortran_resolve
	.irp	register, r10, r9, r8, rcx, rdx, rsi, rdi
	popq	%\register
	.cfi_adjust_cfa_offset -8
	.endr
	jmp	*%rax
#else /* x16: the entry */
	stp	x29, x30, [sp, #-96]!
	.cfi_adjust_cfa_offset 96
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x8, [sp, #80]
	mov	x0, x16
	mov	x1, x30
	bl	qzm_fortran_resolve
	mov	x17, x0
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldr	x8, [sp, #80]
	ldp	x29, x30, [sp], #96
	.cfi_adjust_cfa_offset -96
	.cfi_restore x29
	.cfi_restore x30
	br	x17
#endif
	.cfi_endproc
	.size	.Lresolve, . - .Lresolve

#endif
	.section .note.GNU-stack,"",%progbits
