// The server's process. The one that answered the search runs already; a new one is started when that has ended.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { ServerCommand } from './discovery';

const PATIENCE_MILLISECONDS = 2000;

export class ServerProcess {
  private running: ChildProcessWithoutNullStreams | undefined;
  private isUsed = false;

  /** `folder` is where new processes are started. */
  constructor(
    private readonly server: ServerCommand,
    private readonly folder: string | undefined,
  ) {
    this.running = server.running;
  }

  /** A process that nobody has spoken to. */
  start(): Promise<ChildProcessWithoutNullStreams> {
    if (this.running === undefined || this.isUsed) {
      const { command, args, environment } = this.server;
      this.running = spawn(command, args, {
        env: { ...process.env, ...environment },
        cwd: this.folder,
        windowsHide: true,
      });
    }
    this.isUsed = true;
    const started = this.running;
    return new Promise((resolve, reject) => {
      started.on('error', reject); // after it has started, nothing listens to this: the connection ends instead
      if (started.pid !== undefined) {
        resolve(started);
      }
    });
  }

  /** Kills the process, if it does not end by itself in a while. */
  end(patience = PATIENCE_MILLISECONDS): void {
    const ending = this.running;
    setTimeout(() => ending?.kill(), patience).unref();
  }
}
