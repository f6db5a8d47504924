import { isRefusedHost, type MayReach } from "../../network/guarded-lookup.js";
import { isLoopbackAddress } from "../../network/loopback-address.js";
import { isPublicAddress } from "../../network/public-address.js";
import type { VideoSettings } from "./video-options.js";

/**
 * Which addresses callbacks may go to. Whoever may create tasks makes this machine send requests: they must not become a
 * way into the network that it stands in. Pure.
 *
 * @param listensOn the host that the service was started on
 */
export function callbackReach(settings: VideoSettings, listensOn: string): MayReach {
  const { remoteCallbacks, privateCallbacks } = settings;
  const ownLoopback = listensOn === "localhost" || isLoopbackAddress(listensOn);
  return (address) => {
    if (isLoopbackAddress(address)) return ownLoopback || privateCallbacks;
    return remoteCallbacks && (privateCallbacks || isPublicAddress(address));
  };
}

/** Why a callback cannot go to an address, as far as the address itself shows it. Names are looked up when it is sent. Pure. */
export function callbackViolation(url: string, mayReach: MayReach): string | undefined {
  if (!URL.canParse(url)) return "is not an address";
  return isRefusedHost(new URL(url), mayReach)
    ? "leads where this service sends no callbacks (see remoteCallbacks and privateCallbacks of its options)"
    : undefined;
}
