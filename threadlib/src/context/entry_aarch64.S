/* The first instructions of a new context, and calls of threads on their joiner's stack, for aarch64 (AAPCS64).
 *
 * Owns:    the frame of qzi_call, 176 bytes: sp+0 x29, x30, sp+16 x19..x28, sp+96 fpcr, sp+104 free, sp+112 d8..d15
 * Must not: know how contexts are switched: switch.h.
 */
	.text

/* Start of a new context; see entry_x86_64.S. x0, x1: (after, arg); x29: the function to call. */
	.globl	qzi_thread_entry
	.hidden	qzi_thread_entry
	.type	qzi_thread_entry, %function
	.p2align 4
qzi_thread_entry:
	.cfi_startproc
	.cfi_undefined x30
	hint	#36 /* bti j */
	mov	x9, x29
	mov	x29, xzr
	mov	x30, xzr
	blr	x9
	brk	#1
	.cfi_endproc
	.size	qzi_thread_entry, . - qzi_thread_entry

/* void *qzi_call(void *start, void *argument, void **exit_sp): see entry_x86_64.S */
	.section quartz_start,"ax",%progbits
	.globl	qzi_call
	.hidden	qzi_call
	.type	qzi_call, %function
	.p2align 4
qzi_call:
	.cfi_startproc
	.cfi_personality 0x9b, .Lpersonality
	hint	#34
	stp	x29, x30, [sp, #-176]!
	.cfi_adjust_cfa_offset 176
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	.cfi_rel_offset x19, 16
	.cfi_rel_offset x20, 24
	stp	x21, x22, [sp, #32]
	.cfi_rel_offset x21, 32
	.cfi_rel_offset x22, 40
	stp	x23, x24, [sp, #48]
	.cfi_rel_offset x23, 48
	.cfi_rel_offset x24, 56
	stp	x25, x26, [sp, #64]
	.cfi_rel_offset x25, 64
	.cfi_rel_offset x26, 72
	stp	x27, x28, [sp, #80]
	.cfi_rel_offset x27, 80
	.cfi_rel_offset x28, 88
	mrs	x9, fpcr
	str	x9, [sp, #96]
	stp	d8, d9, [sp, #112]
	.cfi_rel_offset d8, 112
	.cfi_rel_offset d9, 120
	stp	d10, d11, [sp, #128]
	.cfi_rel_offset d10, 128
	.cfi_rel_offset d11, 136
	stp	d12, d13, [sp, #144]
	.cfi_rel_offset d12, 144
	.cfi_rel_offset d13, 152
	stp	d14, d15, [sp, #160]
	.cfi_rel_offset d14, 160
	.cfi_rel_offset d15, 168
	mov	x9, sp
	str	x9, [x2]
	mov	x9, x0
	mov	x0, x1
	blr	x9
	ldr	x9, [sp, #96] /* the joiner must not inherit a changed control word */
	mrs	x10, fpcr
	cmp	x9, x10
	b.ne	.Lput_back
.Lcall_back:
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #112]
	ldp	d10, d11, [sp, #128]
	ldp	d12, d13, [sp, #144]
	ldp	d14, d15, [sp, #160]
	ldp	x29, x30, [sp], #176
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x21
	.cfi_restore x22
	.cfi_restore x23
	.cfi_restore x24
	.cfi_restore x25
	.cfi_restore x26
	.cfi_restore x27
	.cfi_restore x28
	.cfi_restore d8
	.cfi_restore d9
	.cfi_restore d10
	.cfi_restore d11
	.cfi_restore d12
	.cfi_restore d13
	.cfi_restore d14
	.cfi_restore d15
	ret
	.cfi_adjust_cfa_offset 176
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	.cfi_rel_offset x19, 16
	.cfi_rel_offset x20, 24
	.cfi_rel_offset x21, 32
	.cfi_rel_offset x22, 40
	.cfi_rel_offset x23, 48
	.cfi_rel_offset x24, 56
	.cfi_rel_offset x25, 64
	.cfi_rel_offset x26, 72
	.cfi_rel_offset x27, 80
	.cfi_rel_offset x28, 88
	.cfi_rel_offset d8, 112
	.cfi_rel_offset d9, 120
	.cfi_rel_offset d10, 128
	.cfi_rel_offset d11, 136
	.cfi_rel_offset d12, 144
	.cfi_rel_offset d13, 152
	.cfi_rel_offset d14, 160
	.cfi_rel_offset d15, 168
.Lput_back:
	msr	fpcr, x9
	b	.Lcall_back
	.cfi_endproc
	.size	qzi_call, . - qzi_call
	.text

/* void qzi_leave_call(void *exit_sp, void *result): makes the qzi_call that stored exit_sp return `result`. */
	.globl	qzi_leave_call
	.hidden	qzi_leave_call
	.type	qzi_leave_call, %function
	.p2align 4
qzi_leave_call:
	.cfi_startproc
	mov	sp, x0
	mov	x0, x1
	ldr	x9, [sp, #96]
	msr	fpcr, x9
	b	.Lcall_back
	.cfi_endproc
	.size	qzi_leave_call, . - qzi_leave_call

	.section .data.rel.ro.local, "aw"
	.p2align 3
	.type	.Lpersonality, %object
	.size	.Lpersonality, 8
.Lpersonality:
	.xword	qzi_personality
	.section .note.GNU-stack, "", %progbits
