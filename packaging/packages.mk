# Distribution: one file for vendoring, a tarball, Debian packages. Included by the Makefile, which sets
# the variables.

AMALGAMATION := $(BUILD)/amalgamation
PUBLIC_HEADERS := $(sort $(wildcard include/*.h))

print-lib-sources:
	@printf '%s\n' $(sort $(LIB_SRC))

# CMake's only list of the library's sources.
cmake-sources: ## Write packaging/sources.cmake, the library's sources as CMakeLists.txt reads them
	@{ echo '# Made by `make cmake-sources`.'; echo 'set(PROBITY_SOURCES'; \
	    printf '  %s\n' $(sort $(LIB_SRC)) | sed '$$s/$$/)/'; } > packaging/sources.cmake

amalgamation: $(AMALGAMATION)/probity.c ## Join the library into one probity.c, with the headers next to it
$(AMALGAMATION)/probity.c: tools/amalgamate.awk $(wildcard src/*/*.[ch] src/*/*/*.[ch]) $(PUBLIC_HEADERS) FORCE
	@rm -rf $(@D) && mkdir -p $(@D)
	$(call say,JOIN)awk -v version=$(VERSION) -f tools/amalgamate.awk $(sort $(LIB_SRC)) > $@
	@install -m 644 $(PUBLIC_HEADERS) LICENSE $(@D)/

DIST ?= $(BUILD)/dist/probity-$(VERSION).tar.gz
dist: $(PAGE) ## Make the release tarball, which includes the page of `probity view`
	@mkdir -p $(dir $(DIST))
	$(if $(V),,@)tools/dist.sh $(VERSION) $(PAGE) $(DIST)
	@echo '  DIST $(DIST)'

# DEB_BUILD names a build to package, instead of a build with Debian's compiler flags.
DEB_BUILD ?= $(BUILD)/deb/build
DEB_OUT ?= $(BUILD)/deb
deb: ## Make Debian packages in BUILD/deb (needs dpkg-dev)
	@[ '$(DEB_BUILD)' != '$(BUILD)/deb/build' ] || $(MAKE) BUILD=$(DEB_BUILD) \
	    CFLAGS="$$(dpkg-buildflags --get CFLAGS) $$(dpkg-buildflags --get CPPFLAGS)" \
	    LDFLAGS="$$(dpkg-buildflags --get LDFLAGS)" lib tool
	CC='$(CC)' tools/build_deb.sh $(DEB_BUILD) $(DEB_OUT)
