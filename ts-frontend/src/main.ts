/** The command line: finds the command and hands over. Loads nothing that the command does not need. */
console.log('quartz');
