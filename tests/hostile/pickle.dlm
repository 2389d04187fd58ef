cos
system
(S'echo owned'
tR.