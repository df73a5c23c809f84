/** The image of the pause container, which owns the namespaces of a pod. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../host/exec.ts'
import { imagesDirectory } from '../host/state.ts'
import { ctr, pauseImage } from '../kubernetes/node.ts'
import { buildah } from './store.ts'

/** Reaps orphaned processes of its pod, and exits at once on SIGTERM. */
const source = `#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void end(int number) { (void)number; _exit(0); }
static void reap(int number) { (void)number; while (waitpid(-1, NULL, WNOHANG) > 0) {} }
int main(void) { signal(SIGTERM, end); signal(SIGINT, end); signal(SIGCHLD, reap); for (;;) pause(); }
`

/** Builds and loads the image unless containerd has it. */
export async function ensurePause(): Promise<void> {
  const images = await ctr(['images', 'list', '-q'])
  if (images.split('\n').includes(pauseImage)) return
  const directory = path.join(imagesDirectory, 'pause')
  const archive = path.join(directory, 'image.tar')
  await mkdir(directory, { recursive: true })
  await writeFile(path.join(directory, 'pause.c'), source)
  await writeFile(path.join(directory, 'Dockerfile'), 'FROM scratch\nCOPY pause /pause\nUSER 65535\nENTRYPOINT ["/pause"]\n')
  await run('gcc', ['-Os', '-static', '-o', path.join(directory, 'pause'), path.join(directory, 'pause.c')])
  await buildah(['bud', '--quiet', '--isolation', 'chroot', '--tag', pauseImage, directory])
  await rm(archive, { force: true })
  await buildah(['push', '--quiet', pauseImage, `oci-archive:${archive}:${pauseImage}`])
  await ctr(['images', 'import', archive])
}
