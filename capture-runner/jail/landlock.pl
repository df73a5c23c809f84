#!/usr/bin/perl
# Starts a program that cannot read the directories in TINTYPE_HIDDEN (separated by colons), and cannot trace the runner to read its memory,
# environment or descriptors. It needs no user namespace: Landlock (Linux 5.13) is open to every process. src/jail/wrapper.ts starts this program instead
# of TINTYPE_JAILED. It is in Perl because that is part of every Debian image and can make any system call.
use strict;
use warnings;
use Cwd 'abs_path';
use POSIX ();

use constant { CREATE_RULESET => 444, ADD_RULE => 445, RESTRICT_SELF => 446 };
use constant { VERSION => 1, PATH_BENEATH => 1, READ_FILE => 1 << 2, REFER => 1 << 13 };
use constant { PR_SET_NO_NEW_PRIVS => 38, O_PATH => 010000000 };

my @hidden = grep { defined } map { abs_path($_) } split /:/, delete $ENV{TINTYPE_HIDDEN};
my $program = delete $ENV{TINTYPE_JAILED};

my $version = syscall CREATE_RULESET, 0, 0, VERSION;
die "Landlock is not available: $!\n" if $version < 1;
# Without REFER, Landlock forbids to move files to another directory. Version 1 does not know it.
my $directory_rights = READ_FILE | ($version > 1 ? REFER : 0);
my $attributes = pack 'Q', $directory_rights;
my $ruleset = syscall CREATE_RULESET, $attributes, length $attributes, 0;
die "Landlock accepts no ruleset: $!\n" if $ruleset < 0;

# Landlock only grants. So grant everything except the hidden directories and those on the way to them.
sub grant {
    my ($path) = @_;
    return if -l $path || grep { $_ eq $path } @hidden;
    return grant_entries($path) if grep { index($_, "$path/") == 0 } @hidden;
    sysopen my $handle, $path, O_PATH or return;
    my $rights = -d $path ? $directory_rights : READ_FILE;
    my $rule = pack 'Ql', $rights, fileno $handle;
    syscall(ADD_RULE, $ruleset, PATH_BENEATH, $rule, 0) == 0 or die "Landlock accepts no rule for $path: $!\n";
}

sub grant_entries {
    my ($directory) = @_;
    opendir my $entries, $directory or return;
    grant(($directory eq '/' ? '' : $directory) . "/$_") for grep { !/^\.\.?$/ } readdir $entries;
}

grant_entries('/');
my %prctl = (x86_64 => 157, aarch64 => 167);
my $prctl = $prctl{(POSIX::uname())[4]};
syscall $prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0 if defined $prctl;
syscall(RESTRICT_SELF, $ruleset, 0) == 0 or die "Landlock cannot be applied: $!\n";
POSIX::close($ruleset);
exec { $program } $program, @ARGV or die "$program does not start: $!\n";
