# Runs pg_bsd_indent on C files; tools/indent calls it. Pieces of code that pg_bsd_indent does not understand are hidden
# from it, by names of the same width, and stay as they are: compound literals, initializers whose braces share a line
# with values, hexadecimal numbers with an exponent, and ranges. A loop such as foreach() over a statement without
# braces needs its head on one line.
#
#   indent.pl [--check] COMMAND FILE...

use strict;
use warnings;

use File::Temp qw(tempdir);

my $QUOTED = qr{" (?:[^"\\\n]|\\.)*+ " | ' (?:[^'\\\n]|\\.)++ ' | /\* .*? \*/}xs;
# in front of a pattern: it does not match in strings and comments
my $NOT_QUOTED = qr{$QUOTED (*SKIP) (*FAIL)}x;

my $BRACES = qr{(?<braces> \{ (?:[^{}"'/]++ | $QUOTED | / | (?&braces))*+ \})}x;
my $LITERAL = qr{\( (?:struct[ ])? \w+ (?:[ ]\*+)? (?:\[\w*\])? \)[ ] $BRACES}x;
my $INITIALIZER = qr{(?=\{[^\s\\]) $BRACES | $BRACES (?<=\S\})}x;
my $HEXADECIMAL = qr{\b 0x [0-9a-f.]+ p [-+]?[0-9]+}xi;
my $RANGE = qr{\w+[ ]\.\.\.[ ]\w+};

# Shorter pieces have no room for a name; none of them needs one.
my $LEAST_WIDTH = 6;

my $check = @ARGV && $ARGV[0] eq '--check' ? shift : '';
my ($command, @files) = @ARGV;
my $scratch = tempdir(CLEANUP => 1);
my @hidden;

sub read_file
{
	my ($name) = @_;

	open(my $file, '<', $name) or die "tools/indent: $name: $!\n";
	local $/;
	return scalar <$file>;
}

sub write_file
{
	my ($name, $text) = @_;

	open(my $file, '>', $name) or die "tools/indent: $name: $!\n";
	print $file $text or die "tools/indent: $name: $!\n";
	close($file) or die "tools/indent: $name: $!\n";
}

# Returns the name that hides a piece of code.
sub hide
{
	my ($piece) = @_;

	return $piece if length($piece) < $LEAST_WIDTH;
	push @hidden, $piece;
	my $name = '$' . $#hidden . '$';
	$name .= '$' while length($name) < length($piece) && $piece !~ /\n/;
	return $name;
}

sub prepare
{
	my ($text) = @_;

	@hidden = ();
	$text =~ s{$NOT_QUOTED | ($LITERAL | $INITIALIZER | $HEXADECIMAL | $RANGE)}{hide($1)}xge;
	# the dot of a designator
	$text =~ s/$NOT_QUOTED|(?<=\s)\.(?=[a-z])/\$/g;
	$text =~ s/^(\t+)(for(?:each|_each_|both|three)\w*)\((.*\))$/$1while (\$$2\$$3/gm;
	# a comment that begins with dashes keeps its lines
	$text =~ s!/\* (?=---)!/*- !g;
	return $text;
}

sub finish
{
	my ($text) = @_;

	$text =~ s!/\*- (?=---)!/* !g;
	# as pgindent does
	$text =~ s!\*/(?=/\*.*\*/$)!*/\t!gm;
	$text =~ s/^([A-Za-z_]\S*)[ \t]+\*$/$1 */gm;
	# a function's name begins a line in its declaration, too, if the type is on the line before
	$text =~ s/^(extern \w+)\n\t+(?=\w+\()/$1\n/gm;
	$text =~ s/while \(\$(\w+)\$/$1(/g;
	$text =~ s/$NOT_QUOTED|,(?=\[)/, /g;
	$text =~ s/$NOT_QUOTED|(?<=\s)\$(?=[a-z])/./g;
	$text =~ s/$NOT_QUOTED|\$([0-9]+)\$+/$hidden[$1]/g;
	return $text;
}

my $status = 0;
foreach my $name (@files)
{
	my $old = read_file($name);
	write_file("$scratch/in.c", prepare($old));
	my $errors = `$command $scratch/in.c $scratch/out.c 2>&1`;
	die "tools/indent: $name: $errors" if $? || $errors;
	my $new = finish(read_file("$scratch/out.c"));
	next if $new eq $old;
	if ($check)
	{
		print "$name\n";
		$status = 1;
	}
	else
	{
		write_file($name, $new);
	}
}
exit $status;
