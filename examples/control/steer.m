function steer(port, token, file)
% Controls a running Echolux from MATLAB, or from GNU Octave with the package instrument-control: changes settings, shows
% a refused request, and fetches a B-scan and a picture. FILE must be in a folder that Echolux is allowed to open.
%
%   steer(7070, getenv("ECHOLUX_TOKEN"), "volume.nrrd")

line = tcpclient("127.0.0.1", port);
write_text(line, jsonencode(struct("token", token)));
welcome = jsondecode(read_text(line));
if ~isfield(welcome, "welcome")
    error("Echolux: %s", welcome.error.what);
end

% Keys of settings contain dots, which field names cannot. Write these parts as JSON text.
ask(line, "set", '{"values": {"view.mode": "mip", "view.zoom": 1.5}}');
try
    ask(line, "set", '{"values": {"view.zoom": -1}}');
catch refusal
    disp(["refused: " refusal.message]);
end
opened = ask(line, "open", jsonencode(struct("file", file)));
disp(["opened " opened.name]);

[about, bytes] = ask(line, "b_scan", '{"b_scan": 0}');
if strcmp(about.type, "f32")
    b_scan = reshape(typecast(uint8(bytes(:)'), "single"), flip(about.shape(:)'));  % depth, A-scans
    printf_line("B-scan 0: %d x %d, brightest %.3f %s", size(b_scan, 1), size(b_scan, 2), max(b_scan(:)), about.unit);
end
[~, picture] = ask(line, "snapshot", '{"width": 320, "height": 240}');
out = fopen("picture.png", "w");
fwrite(out, picture, "uint8");
fclose(out);
printf_line("written picture.png");
end

function [result, bytes] = ask(line, method, params)
% Returns the result of a method and the bytes that follow it. This client does not subscribe to notifications.
write_text(line, ['{"jsonrpc": "2.0", "id": 1, "method": "' method '", "params": ' params '}']);
answer = jsondecode(read_text(line));
if isfield(answer, "error")
    error("%s", answer.error.message);
end
result = answer.result;
bytes = [];
if isfield(result, "bytes")
    header = jsondecode(read_text(line));  % {"binary": SIZE}
    bytes = read(line, header.binary, "uint8");
end
end

function write_text(line, text)
write(line, uint8([char(text) 10]));
end

function text = read_text(line)
% Reads single bytes, because voxels may follow the line feed.
text = "";
while true
    byte = read(line, 1, "uint8");
    if isempty(byte)
        error("Echolux has closed the connection");
    elseif byte == 10
        return;
    end
    text(end + 1) = char(byte);
end
end

function printf_line(varargin)
disp(sprintf(varargin{:}));
end
