/* Why a file cannot be read as a profile, for those who say what to do about it.
 *
 * Owns:    nothing. Writer: profile_read.c and what it uses. Reader: the addon, tests.
 */
#ifndef QZ_ABI_PROFILE_FAULT_H
#define QZ_ABI_PROFILE_FAULT_H

enum qz_profile_fault {
  QZ_FAULT_NONE = 0,
  QZ_FAULT_DAMAGED = 1,   /* or cut short */
  QZ_FAULT_FOREIGN = 2,   /* not a profile */
  QZ_FAULT_VERSION = 3,   /* of a format that is not read */
  QZ_FAULT_DENIED = 4,    /* the user may not read it */
  QZ_FAULT_TOO_LARGE = 5, /* for this program, or for the memory */
  QZ_FAULT_SYSTEM = 6     /* another error of the system; errno says which */
};

#endif
