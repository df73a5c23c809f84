// A caching reverse proxy: Debian's nginx with the default rules of `proxy_cache`. It keeps what the responses of the gateway allow.

import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findFreePorts } from '../../cluster/host/ports.ts'
import { runNginx } from './nginx.ts'

export interface CachingNginx {
  url: string
  stop: () => Promise<void>
}

/** Starts it on a free port of loopback. Its response header `X-Cache` tells where a response comes from: `HIT`, `MISS`, `EXPIRED`, … */
export async function startCachingNginx({ directory, upstream }: { directory: string; upstream: string }): Promise<CachingNginx> {
  const temporary = path.join(directory, 'tmp')
  await mkdir(temporary, { recursive: true })
  // Its workers run as another user.
  await chmod(directory, 0o711)
  await chmod(temporary, 0o711)
  const [port = 0] = await findFreePorts(1)
  const url = `http://127.0.0.1:${port}`
  const configuration = path.join(directory, 'nginx.conf')
  await writeFile(configuration, write({ port, upstream, temporary }))
  const stop = await runNginx(directory, configuration, async () => (await fetch(`${url}/v1/status`)).ok)
  return { url, stop }
}

const write = ({ port, upstream, temporary }: { port: number; upstream: string; temporary: string }): string => `
daemon off;
pid ${temporary}/nginx.pid;
worker_processes 1;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${temporary}/body;
  proxy_temp_path ${temporary}/proxy;
  fastcgi_temp_path ${temporary}/fastcgi;
  uwsgi_temp_path ${temporary}/uwsgi;
  scgi_temp_path ${temporary}/scgi;
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
