/**
 * Chromium flags that block network access outside the proxy. They apply with and without the jail. Each flag closes a leak that was observed.
 * Each browser context replaces the proxy set here, which deliberately leads nowhere.
 */
export const EGRESS_FLAGS: readonly string[] = [
  // Nothing listens on port 1, so a request fails when it does not use the proxy of its context.
  '--proxy-server=socks5://127.0.0.1:1',
  // Without this entry, loopback hosts bypass the proxy.
  '--proxy-bypass-list=<-loopback>',
  // Chromium resolves the names of plain http pages itself even when a proxy will resolve them. No name may leave through DNS.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // STUN and TURN bypass any proxy over UDP. Headless shell reads the first spelling, full Chromium the second.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
]
