/**
 * Chromium's own half of the fence, in every mode: with the jail they are the second wall, without it the first. Each closes a way past
 * the proxy that was seen open. A context's own proxy replaces the one here, which leads nowhere on purpose.
 */
export const EGRESS_FLAGS: readonly string[] = [
  // Nothing listens on port 1: what a context forgets to send through its own proxy fails.
  '--proxy-server=socks5://127.0.0.1:1',
  // Without it loopback hosts skip the proxy.
  '--proxy-bypass-list=<-loopback>',
  // Chromium resolves names of plain http pages although a proxy will do it: no name may leave by DNS.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // STUN and TURN go out by UDP past any proxy. Headless shell reads the first spelling, full Chromium the second.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
]
