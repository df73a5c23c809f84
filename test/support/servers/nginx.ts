// Debian's nginx as a reverse proxy: like an ingress controller, with the configuration that ingress-nginx generates from its defaults and the annotations
// of an Ingress, or with a cache.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findFreePorts } from '../../cluster/host/ports.ts'
import { eventually } from '../eventually.ts'
import { endWithTest } from '../processes/own-children.ts'
import { createReceiverCertificate } from './https-receiver.ts'

const PROGRAM = '/usr/sbin/nginx'
const PREFIX = 'nginx.ingress.kubernetes.io/'

/** Defaults of ingress-nginx without annotations (its documentation, "ConfigMaps"). */
const DEFAULTS = {
  'proxy-body-size': '1m',
  'proxy-read-timeout': '60',
  'proxy-send-timeout': '60',
  'proxy-buffering': 'off',
  'proxy-max-temp-file-size': '1024m',
}

export interface NginxOptions {
  /** Directory of its files. The caller removes it. */
  directory: string
  /** Its host name for clients. */
  host: string
  /** Address of the gateway. */
  upstream: string
  /** Of the Ingress. */
  annotations?: Readonly<Record<string, string>>
}

/** Creates the directory for what nginx stores itself, and returns its path. */
async function createTemporary(directory: string): Promise<string> {
  const temporary = path.join(directory, 'tmp')
  await mkdir(temporary, { recursive: true })
  // Its workers run as another user.
  await chmod(directory, 0o711)
  await chmod(temporary, 0o711)
  return temporary
}

/** Beginning of a configuration, and of its block `http`: one process in the foreground, which writes only below `temporary`. */
const toBase = (temporary: string): string => `daemon off;
pid ${temporary}/nginx.pid;
worker_processes 1;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${temporary}/body;
  proxy_temp_path ${temporary}/proxy;
  fastcgi_temp_path ${temporary}/fastcgi;
  uwsgi_temp_path ${temporary}/uwsgi;
  scgi_temp_path ${temporary}/scgi;`

/** Runs nginx with a configuration file until the returned function is called. */
async function runNginx(directory: string, configuration: string, isListening: () => Promise<boolean>): Promise<() => Promise<void>> {
  const child = spawn(PROGRAM, ['-c', configuration, '-p', directory, '-e', 'stderr'], { stdio: ['ignore', 'inherit', 'inherit'] })
  endWithTest(child)
  const ended = once(child, 'exit')
  await eventually('nginx listens', async () => {
    if (child.exitCode !== null) throw new Error(`nginx exited with ${child.exitCode}`)
    return isListening()
  })
  return async () => {
    child.kill('SIGTERM')
    await ended
  }
}

export type Nginx = Awaited<ReturnType<typeof startNginx>>

/** Starts nginx on a free port of loopback, with TLS. */
export async function startNginx({ directory, host, upstream, annotations = {} }: NginxOptions) {
  const temporary = await createTemporary(directory)
  const { certificate, key } = await createReceiverCertificate(directory, [`DNS:${host}`])
  const [port = 0] = await findFreePorts(1)
  const settings = Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, preset]) => [name, annotations[PREFIX + name] ?? preset]),
  ) as typeof DEFAULTS
  const configuration = path.join(directory, 'nginx.conf')
  await writeFile(configuration, write({ port, host, upstream, certificate, key, temporary, settings }))
  // 400 is the status for plain HTTP on a TLS port.
  const stop = await runNginx(directory, configuration, async () => (await fetch(`http://127.0.0.1:${port}/`)).status === 400)
  /** `ca`: certificate of its authority as PEM. `temporary`: responses and bodies that it buffered on disk. */
  return { port, ca: await readFile(path.join(directory, 'ca.crt'), 'utf8'), temporary, stop }
}

interface Written extends Pick<NginxOptions, 'host' | 'upstream'> {
  port: number
  certificate: string
  key: string
  temporary: string
  settings: typeof DEFAULTS
}

const write = ({ port, host, upstream, certificate, key, temporary, settings }: Written): string => `
${toBase(temporary)}
  client_header_timeout 60s;
  client_body_timeout 60s;
  client_body_buffer_size 8k;
  large_client_header_buffers 4 8k;
  keepalive_timeout 75s;
  upstream gateway { server ${new URL(upstream).host}; keepalive 320; }
  server {
    listen 127.0.0.1:${port} ssl;
    server_name ${host};
    ssl_certificate ${certificate};
    ssl_certificate_key ${key};
    location / {
      client_max_body_size ${settings['proxy-body-size']};
      proxy_set_header Host $http_host;
      proxy_set_header X-Request-ID $request_id;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port $server_port;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Scheme $scheme;
      proxy_set_header X-Scheme $scheme;
      proxy_set_header Proxy "";
      proxy_set_header Connection "";
      proxy_connect_timeout 5s;
      proxy_send_timeout ${settings['proxy-send-timeout']}s;
      proxy_read_timeout ${settings['proxy-read-timeout']}s;
      proxy_buffering ${settings['proxy-buffering']};
      proxy_buffer_size 4k;
      proxy_buffers 4 4k;
      proxy_max_temp_file_size ${settings['proxy-max-temp-file-size']};
      proxy_request_buffering on;
      proxy_http_version 1.1;
      proxy_cookie_domain off;
      proxy_cookie_path off;
      proxy_next_upstream error timeout;
      proxy_next_upstream_tries 3;
      proxy_redirect off;
      proxy_pass http://gateway;
    }
  }
}
`

/**
 * Starts one on a free port of loopback with the default rules of `proxy_cache`: it keeps what the responses of the gateway allow. Its response header
 * `X-Cache` tells where a response comes from: `HIT`, `MISS`, `EXPIRED`, …
 */
export async function startCachingNginx({ directory, upstream }: Pick<NginxOptions, 'directory' | 'upstream'>) {
  const temporary = await createTemporary(directory)
  const [port = 0] = await findFreePorts(1)
  const url = `http://127.0.0.1:${port}`
  const configuration = path.join(directory, 'nginx.conf')
  await writeFile(configuration, writeCaching({ port, upstream, temporary }))
  const stop = await runNginx(directory, configuration, async () => (await fetch(`${url}/v1/status`)).ok)
  return { url, stop }
}

const writeCaching = ({ port, upstream, temporary }: Pick<Written, 'port' | 'upstream' | 'temporary'>): string => `
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
