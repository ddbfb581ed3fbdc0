/* Context switch for aarch64 (AAPCS64).
 *
 * Owns:    the layout of a saved context. Saved by its owner at the moment it is left, 176 bytes:
 *            sp+0 fpcr, sp+8 x30 (where to go on), sp+16 x19..x28, sp+96 x29, sp+104 free, sp+112 d8..d15
 * Must not: jump to where the other context goes on: see switch_x86_64.S
 */
	.text

/* struct qzi_passed qzi_switch(void **save, void *to, void (*after)(void *), void *arg): see switch_x86_64.S */
	.globl	qzi_switch
	.hidden	qzi_switch
	.type	qzi_switch, %function
	.p2align 6
qzi_switch:
	.cfi_startproc
	hint	#34 /* bti c */
	sub	sp, sp, #176
	.cfi_adjust_cfa_offset 176
	mrs	x9, fpcr
	stp	x9, x30, [sp]
	.cfi_rel_offset x30, 8
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
	str	x29, [sp, #96]
	.cfi_rel_offset x29, 96
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
	mov	x10, sp
	str	x10, [x0]
	mov	sp, x1
	mov	x0, x2
	mov	x1, x3
	ldp	x10, x30, [sp]
	cmp	x9, x10
	b.ne	.Lload_fpcr
.Lfpcr_done:
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldr	x29, [sp, #96]
	ldp	d8, d9, [sp, #112]
	ldp	d10, d11, [sp, #128]
	ldp	d12, d13, [sp, #144]
	ldp	d14, d15, [sp, #160]
	add	sp, sp, #176
	.cfi_remember_state
	.cfi_adjust_cfa_offset -176
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
	.cfi_restore x29
	.cfi_restore d8
	.cfi_restore d9
	.cfi_restore d10
	.cfi_restore d11
	.cfi_restore d12
	.cfi_restore d13
	.cfi_restore d14
	.cfi_restore d15
	ret
	.cfi_restore_state
.Lload_fpcr:
	msr	fpcr, x10
	b	.Lfpcr_done
	.cfi_endproc
	.size	qzi_switch, . - qzi_switch

/* Where a new context begins: see switch_x86_64.S. x0, x1: (after, arg); x19: the function that it is for. */
	.globl	qzi_thread_entry
	.hidden	qzi_thread_entry
	.type	qzi_thread_entry, %function
	.p2align 4
qzi_thread_entry:
	.cfi_startproc
	.cfi_undefined x30
	hint	#36 /* bti j */
	mov	x29, xzr
	mov	x30, xzr
	blr	x19
	brk	#1
	.cfi_endproc
	.size	qzi_thread_entry, . - qzi_thread_entry

/* void *qzi_call(void *start, void *argument, void **exit_sp): see switch_x86_64.S */
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
	ldr	x9, [sp, #96] /* its joiner must not inherit the control word that it ended with */
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
