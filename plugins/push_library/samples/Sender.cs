// Sends simulated spectra through the library echolux_push, from C# (docs/windows.md).
// usage: Sender HOST:PORT [SECONDS]     with echolux_push.dll beside the program
// build: csc Sender.cs, or a console project of .NET with this file
using System;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class Sender
{
    const string Library = "echolux_push";
    const CallingConvention C = CallingConvention.Cdecl;

    [DllImport(Library, CallingConvention = C, CharSet = CharSet.Ansi)]
    static extern int echolux_sender_open(string address, string settings, StringBuilder problem, int problemBytes);

    [DllImport(Library, CallingConvention = C)]
    static extern int echolux_sender_push(int sender, ushort[] spectra, long bytes);

    [DllImport(Library, CallingConvention = C)]
    static extern int echolux_sender_wait(int sender, int milliseconds);

    [DllImport(Library, CallingConvention = C, CharSet = CharSet.Ansi)]
    static extern int echolux_sender_problem(int sender, StringBuilder problem, int problemBytes);

    [DllImport(Library, CallingConvention = C)]
    static extern int echolux_sender_end(int sender);

    [DllImport(Library, CallingConvention = C)]
    static extern int echolux_sender_close(int sender, int milliseconds);

    const int Samples = 512, AScans = 64, LineRate = 6400;

    // Stands for the digitizer: a B-scan of a mirror at a depth given in fringes per spectrum.
    static void Acquire(ushort[] spectra, double depth)
    {
        for (int i = 0; i < spectra.Length; ++i)
        {
            double k = (double)(i % Samples) / Samples, x = 4 * (k - 0.5);
            spectra[i] = (ushort)(20000 * Math.Exp(-x * x) * (1 + 0.5 * Math.Cos(2 * Math.PI * depth * k)));
        }
    }

    static int Main(string[] arguments)
    {
        double seconds = arguments.Length > 1 ? double.Parse(arguments[1], CultureInfo.InvariantCulture) : 60;
        var problem = new StringBuilder(200);
        int sender = echolux_sender_open(arguments[0],
            "samples=512 a_scans=64 b_scans=16 line_rate_hz=6400 name=csharp", problem, problem.Capacity);
        if (sender < 0)
        {
            Console.Error.WriteLine(problem);
            return 1;
        }
        Console.WriteLine("waiting for the viewer");
        while (echolux_sender_wait(sender, 1000) == 0) { }
        var spectra = new ushort[AScans * Samples];
        for (int i = 0; i < seconds * LineRate / AScans; ++i)
        {
            Acquire(spectra, 60 + 30 * Math.Sin(0.01 * i));
            if (echolux_sender_push(sender, spectra, spectra.Length * sizeof(ushort)) != 0)
            {
                echolux_sender_problem(sender, problem, problem.Capacity);
                Console.Error.WriteLine(problem);
                return 1;
            }
            Thread.Sleep(1000 * AScans / LineRate);
        }
        echolux_sender_end(sender);
        echolux_sender_close(sender, 5000);
        return 0;
    }
}
