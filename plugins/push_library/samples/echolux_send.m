function echolux_send(address, seconds)
%ECHOLUX_SEND  Sends simulated spectra to Echolux through echolux_push.dll (docs/windows.md).
%   echolux_send('192.168.1.20:5210', 60)
%
%   echolux_push.dll (Linux: libecholux_push.so) and echolux_sender.h are in the current folder. loadlibrary needs one
%   of the compilers that MATLAB supports, once.
samples = 512; a_scans = 64; line_rate_hz = 6400;
if ~libisloaded('echolux')
    if ispc, file = 'echolux_push.dll'; else, file = 'libecholux_push.so'; end
    loadlibrary(fullfile(pwd, file), fullfile(pwd, 'echolux_sender.h'), 'alias', 'echolux');
end
settings = sprintf('samples=%d a_scans=%d b_scans=16 sample_format=u16 line_rate_hz=%d name=MATLAB', ...
    samples, a_scans, line_rate_hz);
[sender, ~, ~, problem] = calllib('echolux', 'echolux_sender_open', address, settings, blanks(200), 200);
if sender < 0, error('echolux:open', '%s', problem); end
close_sender = onCleanup(@() calllib('echolux', 'echolux_sender_close', sender, 5000));
while calllib('echolux', 'echolux_sender_wait', sender, 1000) == 0
    disp('waiting for the viewer');
end
k = (0:samples - 1)' / samples;
for i = 1:round(seconds * line_rate_hz / a_scans)
    depth = 60 + 30 * sin(0.01 * i);                             % stands for the digitizer
    line = 20000 * exp(-(4 * k - 2) .^ 2) .* (1 + 0.5 * cos(2 * pi * depth * k));
    spectra = uint16(repmat(line, 1, a_scans));                  % samples x A-scans: MATLAB stores columns together
    memory = libpointer('voidPtr', spectra);
    if calllib('echolux', 'echolux_sender_push', sender, memory, 2 * numel(spectra)) ~= 0
        [~, problem] = calllib('echolux', 'echolux_sender_problem', sender, blanks(200), 200);
        error('echolux:push', '%s', problem);
    end
    pause(a_scans / line_rate_hz);
end
calllib('echolux', 'echolux_sender_end', sender);
end
