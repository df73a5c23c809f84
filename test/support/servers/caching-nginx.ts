// A caching reverse proxy: Debian's nginx with the default rules of `proxy_cache`. It keeps what the responses of the gateway allow.

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findFreePorts } from '../../cluster/host/ports.ts'
import { createTemporary, runNginx, toBase } from './nginx.ts'

export interface CachingNginx {
  url: string
  stop: () => Promise<void>
}

/** Starts it on a free port of loopback. Its response header `X-Cache` tells where a response comes from: `HIT`, `MISS`, `EXPIRED`, … */
export async function startCachingNginx({ directory, upstream }: { directory: string; upstream: string }): Promise<CachingNginx> {
  const temporary = await createTemporary(directory)
  const [port = 0] = await findFreePorts(1)
  const url = `http://127.0.0.1:${port}`
  const configuration = path.join(directory, 'nginx.conf')
  await writeFile(configuration, write({ port, upstream, temporary }))
  const stop = await runNginx(directory, configuration, async () => (await fetch(`${url}/v1/status`)).ok)
  return { url, stop }
}

const write = ({ port, upstream, temporary }: { port: number; upstream: string; temporary: string }): string => `
${toBase(temporary)}
  proxy_cache_path ${temporary}/cache keys_zone=links:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_cache links;
      proxy_cache_key $request_uri;
      proxy_pass ${upstream};
      add_header X-Cache $upstream_cache_status always;
    }
  }
}
`
